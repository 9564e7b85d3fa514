// The devices of the node by resource, as reported by their plug-ins.
import type { Amounts } from "../node/capacity.ts";
import type { PluginDevice } from "./messages.ts";
import type { DevicePluginConnection } from "./plugin-connection.ts";

interface Resource {
  readonly devices: ReadonlyMap<string, PluginDevice>;
  readonly healthy: ReadonlySet<string>;
  readonly plugin: DevicePluginConnection | undefined;
  /** The time at which the plug-in was lost. */
  readonly lostAt?: number;
}

export interface DeviceInventory {
  has(resource: string): boolean;
  plugin(resource: string): DevicePluginConnection | undefined;
  healthy(resource: string): ReadonlySet<string>;
  all(resource: string): Iterable<string>;
  numaOf(resource: string): (device: string) => readonly number[];
  /** Restores resources from the checkpoint: without devices until their plug-in registers again. */
  restore(resources: Iterable<string>, now: number): void;
  /** The plug-in of a resource has connected; it has not reported its devices yet. */
  connected(resource: string, plugin: DevicePluginConnection): void;
  update(resource: string, devices: readonly PluginDevice[]): void;
  /** The plug-in has been lost; returns false if another one has replaced it. */
  lost(resource: string, plugin: DevicePluginConnection, now: number): boolean;
  /** Returns the healthy devices by resource, for the checkpoint. */
  registered(): Record<string, readonly string[]>;
  /** Returns the healthy devices with their NUMA nodes. */
  allocatable(): readonly {
    readonly resource: string;
    readonly id: string;
    readonly nodes: readonly number[];
  }[];
  /** Forgets resources whose plug-in was lost long ago; returns whether there were any. */
  expire(now: number): boolean;
  /** A forgotten resource remains with an amount of zero, so that it is not taken for one of the cluster. */
  amounts(): { readonly capacity: Amounts; readonly allocatable: Amounts };
}

/** How long a resource is known after its plug-in was lost. */
const lostGraceMilliseconds = 300_000;
const healthyState = "Healthy";

export function deviceInventory(): DeviceInventory {
  const resources = new Map<string, Resource>();
  const forgotten = new Set<string>();
  const numaNodesOf = (device: PluginDevice | undefined): readonly number[] =>
    (device?.topology?.nodes ?? []).map(({ ID }) => Number(ID ?? 0));
  return {
    has: (resource) => resources.has(resource),
    plugin: (resource) => resources.get(resource)?.plugin,
    healthy: (resource) => resources.get(resource)?.healthy ?? new Set(),
    all: (resource) => resources.get(resource)?.devices.keys() ?? [],
    numaOf: (resource) => (device) => numaNodesOf(resources.get(resource)?.devices.get(device)),
    restore: (names, now) => {
      for (const name of names)
        resources.set(name, { devices: new Map(), healthy: new Set(), plugin: undefined, lostAt: now });
    },
    connected: (resource, plugin) => {
      const { devices = new Map<string, PluginDevice>(), healthy = new Set<string>() } =
        resources.get(resource) ?? {};
      resources.get(resource)?.plugin?.close();
      resources.set(resource, { devices, healthy, plugin });
      forgotten.delete(resource);
    },
    update: (resource, devices) =>
      resources.set(resource, {
        devices: new Map(devices.map((device) => [device.ID, device])),
        healthy: new Set(devices.filter(({ health }) => health === healthyState).map(({ ID }) => ID)),
        plugin: resources.get(resource)?.plugin,
      }),
    lost: (resource, plugin, now) => {
      const found = resources.get(resource);
      if (found?.plugin !== plugin) return false;
      resources.set(resource, {
        devices: found.devices,
        healthy: new Set(),
        plugin: undefined,
        lostAt: now,
      });
      return true;
    },
    registered: () => Object.fromEntries([...resources].map(([name, { healthy }]) => [name, [...healthy]])),
    allocatable: () =>
      [...resources].flatMap(([resource, { devices, healthy }]) =>
        [...healthy].map((id) => ({ resource, id, nodes: numaNodesOf(devices.get(id)) })),
      ),
    expire: (now) => {
      const expired = [...resources].filter(
        ([, { lostAt }]) => lostAt !== undefined && now - lostAt >= lostGraceMilliseconds,
      );
      for (const [name] of expired) {
        resources.delete(name);
        forgotten.add(name);
      }
      return expired.length > 0;
    },
    amounts: () => {
      const none = Object.fromEntries([...forgotten].map((name) => [name, "0"]));
      const [capacity, allocatable] = [{ ...none }, { ...none }];
      for (const [name, { devices, healthy }] of resources) {
        capacity[name] = String(devices.size);
        allocatable[name] = String(healthy.size);
      }
      return { capacity, allocatable };
    },
  };
}
