// The device manager: chooses devices when a pod is admitted, allocates them from the plug-in before the pod
// starts, and records them in a checkpoint in the kubelet's format.
import { type Container, type Pod, isSidecar, peakUsage, numbers } from "#api";
import { type Clock, type Log, parseQuantity, quantityValue } from "#base";
import { grpcErrorText } from "../errors.ts";
import type {
  Admitted,
  CheckpointStore,
  ContainerContribution,
  ContainerContributor,
} from "../interfaces.ts";
import {
  type DeviceCheckpoint,
  deviceCheckpointText,
  devicePreimage,
  fnv32a,
} from "../managers/checkpoints.ts";
import { AllocationError } from "../managers/hint-provider.ts";
import type { ProviderHints, TopologyHint } from "../managers/numa.ts";
import type { DeviceHints } from "../managers/resource-managers.ts";
import type { Amounts } from "../node/capacity.ts";
import { containersOf, initContainersOf, uidOf } from "../pod.ts";
import { deviceAllocations } from "./allocations.ts";
import { deviceContribution } from "./contribution.ts";
import {
  type DeviceRequest,
  byNumaNode,
  chooseDevices,
  deviceHints,
  preferenceRequest,
} from "./device-choice.ts";
import { deviceInventory } from "./inventory.ts";
import type { DevicePluginConnection } from "./plugin-connection.ts";

export interface DeviceManagerOptions {
  readonly clock: Clock;
  readonly log: Log;
  readonly store: CheckpointStore;
  /** Name of the checkpoint. */
  readonly checkpoint: string;
  /** The NUMA nodes of the machine. */
  readonly numaNodes: readonly number[];
  readonly isRunning: (podUid: string, container: string) => boolean;
  /** Called when the node's devices change. */
  readonly onChange: () => void;
  /** Called with the duration of each Allocate call. */
  readonly onAllocated?: (resource: string, milliseconds: number) => void;
}

export interface ContainerDevice {
  readonly resource: string;
  readonly id: string;
  readonly nodes: readonly number[];
}

export interface DeviceManager extends DeviceHints, ContainerContributor {
  amounts(): { readonly capacity: Amounts; readonly allocatable: Amounts };
  /** Returns how many devices of a resource are allocated; undefined for a resource of no plug-in. */
  allocated(resource: string): number | undefined;
  /** Allocates the devices of an admitted pod from their plug-ins. */
  confirm(pod: Pod, signal: AbortSignal): Promise<Admitted>;
  containerDevices(podUid: string, container: string): readonly ContainerDevice[];
  allocatableDevices(): readonly ContainerDevice[];
  /** Receives a plug-in's devices until its stream ends or the signal is aborted. */
  follow(resource: string, plugin: DevicePluginConnection, signal: AbortSignal): Promise<void>;
}

const anywhere: TopologyHint = { nodes: undefined, preferred: false };

export async function deviceManager(options: DeviceManagerOptions): Promise<DeviceManager> {
  const { clock, log, store, checkpoint } = options;
  const inventory = deviceInventory();
  const allocations = deviceAllocations();
  /** The topology manager's hints for the containers' devices. */
  const affinities = new Map<string, TopologyHint>();
  let saving = Promise.resolve();
  await restore();

  const isDevice = (resource: string): boolean =>
    inventory.has(resource) || allocations.inUse(resource).size > 0;
  /** Returns the device resources that a container requests. */
  const deviceRequestsOf = ({ resources }: Container): [resource: string, size: number][] =>
    Object.entries(resources?.limits ?? {})
      .filter(([resource]) => isDevice(resource))
      .map(([resource, amount]) => [resource, quantityValue(parseQuantity(String(amount)))]);
  const everyContainer = (pod: Pod): readonly Container[] => [...initContainersOf(pod), ...containersOf(pod)];

  return {
    hints: (pod, container) => hintsFor(deviceRequestsOf(container), uidOf(pod), pod, container),
    podHints: (pod) => hintsFor(podDeviceRequests(pod), uidOf(pod), pod),
    reserve,
    abandon: (podUid) => void allocations.drop(podUid, true),
    confirm,
    contribute,
    podUids: () => allocations.podUids(),
    free: (podUid) => {
      for (const key of affinities.keys()) if (key.startsWith(`${podUid}/`)) affinities.delete(key);
      if (allocations.drop(podUid)) void saveSoon();
    },
    amounts: () => {
      if (inventory.expire(clock.monotonic())) void saveSoon();
      return inventory.amounts();
    },
    allocated: (resource) => (isDevice(resource) ? allocations.inUse(resource).size : undefined),
    containerDevices: (podUid, container) =>
      [...allocations.of(podUid, container)].flatMap(([resource, { byNuma, devices }]) =>
        devices.map((id) => ({ resource, id, nodes: nodesOf(byNuma, id) })),
      ),
    allocatableDevices: () => inventory.allocatable(),
    follow,
  };

  function reserve(pod: Pod, container: Container, hint: TopologyHint): void {
    const podUid = uidOf(pod);
    for (const [resource, size] of deviceRequestsOf(container)) {
      const held = allocations.get(podUid, container.name, resource);
      if (held && held.devices.length !== size)
        throw new AllocationError(
          `pod "${podUid}" container "${container.name}" changed request for resource "${resource}" from ${held.devices.length} to ${size}`,
        );
      // A running container keeps its devices even if the plug-in or the checkpoint has been lost.
      if (options.isRunning(podUid, container.name)) continue;
      const healthy = inventory.healthy(resource);
      if (!inventory.has(resource))
        throw new AllocationError(`cannot allocate unregistered device ${resource}`);
      if (healthy.size === 0)
        throw new AllocationError(
          `no healthy devices present; cannot allocate unhealthy devices ${resource}`,
        );
      if (held?.devices.some((device) => !healthy.has(device)))
        throw new AllocationError(
          `previously allocated devices are no longer healthy; cannot allocate unhealthy devices ${resource}`,
        );
      if (held || size === 0) continue;
      affinities.set(`${podUid}/${container.name}`, hint);
      assign(podUid, container, resource, chooseDevices(requestFor(pod, container, resource, size)));
    }
  }

  function assign(podUid: string, { name }: Container, resource: string, devices: readonly string[]): void {
    const byNuma = byNumaNode(devices, inventory.numaOf(resource));
    allocations.set(podUid, name, resource, { devices, byNuma });
  }

  function requestFor(pod: Pod, container: Container, resource: string, size: number): DeviceRequest {
    const podUid = uidOf(pod);
    const own = allocations.get(podUid, container.name, resource)?.devices ?? [];
    const reusable = reusableOf(pod, container, resource);
    const inUse = allocations.inUse(resource);
    for (const device of own) if (!reusable.has(device)) inUse.delete(device);
    return {
      resource,
      size,
      healthy: inventory.healthy(resource),
      inUse,
      reusable,
      numaOf: inventory.numaOf(resource),
      nodes: affinities.get(`${podUid}/${container.name}`)?.nodes,
    };
  }

  /** Returns the devices of earlier init containers that later containers have not taken over yet. */
  function reusableOf(pod: Pod, container: Container, resource: string): Set<string> {
    const found = new Set<string>();
    const isInit = new Set(initContainersOf(pod).flatMap((each) => (isSidecar(each) ? [] : each.name)));
    for (const { name } of everyContainer(pod)) {
      if (name === container.name) break;
      for (const device of allocations.get(uidOf(pod), name, resource)?.devices ?? [])
        if (isInit.has(name)) found.add(device);
        else found.delete(device);
    }
    return found;
  }

  async function confirm(pod: Pod, signal: AbortSignal): Promise<Admitted> {
    const podUid = uidOf(pod);
    try {
      let isChanged = false;
      for (const container of everyContainer(pod))
        for (const [resource, { response }] of allocations.of(podUid, container.name))
          if (!response) {
            await allocateFromPlugin(pod, container, resource, signal);
            isChanged = true;
          }
      if (isChanged) await saveSoon();
      return { ok: true };
    } catch (error) {
      signal.throwIfAborted();
      allocations.drop(podUid);
      const message = `Allocate failed due to ${grpcErrorText(error)}, which is unexpected`;
      return { ok: false, reason: "UnexpectedAdmissionError", message };
    }
  }

  /** Considers the plug-in's preferences, if any, and then allocates the devices from it. */
  async function allocateFromPlugin(
    pod: Pod,
    container: Container,
    resource: string,
    signal: AbortSignal,
  ): Promise<void> {
    const plugin = inventory.plugin(resource);
    if (!plugin) throw new AllocationError(`unknown Device Plugin ${resource}`);
    const size = allocations.get(uidOf(pod), container.name, resource)!.devices.length;
    if (plugin.options.preferredAvailable) {
      const preferenceArguments = preferenceRequest(requestFor(pod, container, resource, size));
      const preferred = new Set(
        preferenceArguments ? await plugin.preferred(preferenceArguments, size, signal) : [],
      );
      const request = requestFor(pod, container, resource, size);
      assign(uidOf(pod), container, resource, chooseDevices(request, preferred));
    }
    const startedAt = clock.monotonic();
    const held = allocations.get(uidOf(pod), container.name, resource)!;
    const response = await plugin.allocate(held.devices, signal);
    options.onAllocated?.(resource, clock.monotonic() - startedAt);
    if (!response) throw new AllocationError("no containers return in allocation response");
    allocations.set(uidOf(pod), container.name, resource, { ...held, response });
  }

  async function contribute(
    pod: Pod,
    container: Container,
    signal: AbortSignal,
  ): Promise<ContainerContribution> {
    const wants = deviceRequestsOf(container).filter(([, size]) => size > 0);
    for (const [resource] of wants) {
      if (!allocations.get(uidOf(pod), container.name, resource)) {
        // The checkpoint was lost, or the plug-in registered after the pod was admitted.
        reserve(pod, container, anywhere);
        const again = await confirm(pod, signal);
        if (!again.ok) throw new Error(again.message);
      }
      const plugin = inventory.plugin(resource);
      if (!plugin?.options.preStartRequired) continue;
      await plugin
        .preStart(allocations.get(uidOf(pod), container.name, resource)?.devices ?? [], signal)
        .catch((error: unknown) => {
          const text = grpcErrorText(error);
          throw new Error(`device plugin PreStartContainer rpc failed with err: ${text}`, { cause: error });
        });
    }
    return deviceContribution(
      [...allocations.of(uidOf(pod), container.name).values()].flatMap(({ response }) => response ?? []),
    );
  }

  function podDeviceRequests(pod: Pod): [resource: string, size: number][] {
    const sizeOf = (resource: string) => (container: Container) =>
      deviceRequestsOf(container).find(([name]) => name === resource)?.[1] ?? 0;
    const wanted = new Set(
      [...containersOf(pod), ...initContainersOf(pod)].flatMap((container) =>
        deviceRequestsOf(container).map(([resource]) => resource),
      ),
    );
    return [...wanted].map((resource) => [resource, peakUsage(pod.spec, sizeOf(resource), numbers)]);
  }

  function hintsFor(
    wants: readonly [string, number][],
    podUid: string,
    pod: Pod,
    container?: Container,
  ): ProviderHints | null {
    if (wants.length === 0) return null;
    const hints = wants.map(([resource, size]) => {
      const numaOf = inventory.numaOf(resource);
      if (![...inventory.all(resource)].some((device) => numaOf(device).length > 0))
        return [resource, null] as const;
      const held = (container ? [container] : everyContainer(pod)).flatMap(
        ({ name }) => allocations.get(podUid, name, resource)?.devices ?? [],
      );
      const inUse = allocations.inUse(resource);
      const free = [...inventory.healthy(resource)].filter((device) => !inUse.has(device));
      const reusable = container ? reusableOf(pod, container, resource) : new Set<string>();
      const isHeld = held.length > 0;
      if (isHeld ? held.length !== size : free.length + reusable.size < size) return [resource, []] as const;
      const request = { size, all: inventory.all(resource), numaOf, machine: options.numaNodes };
      const choice = isHeld
        ? { available: new Set(held), reusable: new Set<string>() }
        : { available: new Set(free), reusable };
      return [resource, deviceHints({ ...request, ...choice })] as const;
    });
    return Object.fromEntries(hints);
  }

  async function follow(
    resource: string,
    plugin: DevicePluginConnection,
    signal: AbortSignal,
  ): Promise<void> {
    inventory.connected(resource, plugin);
    try {
      for await (const devices of plugin.devices(signal)) {
        if (inventory.plugin(resource) !== plugin) return;
        log.verbose(2, "devices of a plug-in changed", { resource, count: devices.length });
        inventory.update(resource, devices);
        void saveSoon();
        options.onChange();
      }
    } catch (error) {
      if (!signal.aborted)
        log.warn("lost connection to device plug-in", { resource, error: (error as Error).message });
    } finally {
      plugin.close();
      if (inventory.lost(resource, plugin, clock.monotonic())) options.onChange();
    }
  }

  function saveSoon(): Promise<void> {
    saving = saving
      .then(() =>
        store.write(
          checkpoint,
          deviceCheckpointText({
            entries: nonEmpty(allocations.entries()),
            registered: inventory.registered(),
          }),
        ),
      )
      .catch((error: unknown) =>
        log.error("failed to write the device checkpoint", { error: (error as Error).message }),
      );
    return saving;
  }

  async function restore(): Promise<void> {
    try {
      const text = await store.read(checkpoint);
      if (text === undefined) return;
      const { Data, Checksum } = JSON.parse(text) as {
        readonly Data: {
          readonly PodDeviceEntries: DeviceCheckpoint["entries"];
          readonly RegisteredDevices: DeviceCheckpoint["registered"];
        };
        readonly Checksum: number;
      };
      const state = { entries: Data.PodDeviceEntries, registered: Data.RegisteredDevices };
      if (fnv32a(devicePreimage(state)) !== Checksum) throw new Error("checkpoint is corrupted");
      allocations.restore(state.entries ?? []);
      inventory.restore(Object.keys(state.registered ?? {}), clock.monotonic());
    } catch (error) {
      log.warn("device checkpoint is unusable; allocations may be out of date", {
        error: (error as Error).message,
      });
    }
  }
}

const nonEmpty = <T>(list: readonly T[]): readonly T[] | null => (list.length > 0 ? list : null);

const nodesOf = (byNuma: Readonly<Record<string, readonly string[]>>, device: string): readonly number[] =>
  Object.entries(byNuma)
    .filter(([node, devices]) => node !== "-1" && devices.includes(device))
    .map(([node]) => Number(node));
