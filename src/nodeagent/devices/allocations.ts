// Device allocations by container, with the responses of the plug-ins.
import type { DeviceEntry } from "../managers/checkpoints.ts";
import { type ContainerAllocateResponse, allocationBytes, allocationFrom } from "./messages.ts";

export interface DeviceAllocation {
  readonly devices: readonly string[];
  /** The devices by NUMA node; -1 if that is unknown. */
  readonly byNuma: Readonly<Record<string, readonly string[]>>;
  /** The plug-in's response; undefined until Allocate has been called. */
  readonly response?: ContainerAllocateResponse;
}

export interface DeviceAllocations {
  get(podUid: string, container: string, resource: string): DeviceAllocation | undefined;
  of(podUid: string, container: string): ReadonlyMap<string, DeviceAllocation>;
  set(podUid: string, container: string, resource: string, allocation: DeviceAllocation): void;
  /** Drops the pod's allocations, or only those without a response; reports whether there were any. */
  drop(podUid: string, onlyUnanswered?: boolean): boolean;
  podUids(): readonly string[];
  inUse(resource: string): Set<string>;
  entries(): readonly DeviceEntry[];
  restore(entries: readonly DeviceEntry[]): void;
}

export function deviceAllocations(): DeviceAllocations {
  const pods = new Map<string, Map<string, Map<string, DeviceAllocation>>>();
  const set = (uid: string, container: string, resource: string, allocation: DeviceAllocation): void => {
    const containers = pods.get(uid) ?? new Map<string, Map<string, DeviceAllocation>>();
    const resources = containers.get(container) ?? new Map<string, DeviceAllocation>();
    pods.set(uid, containers.set(container, resources.set(resource, allocation)));
  };
  function* all() {
    for (const [uid, containers] of pods)
      for (const [container, resources] of containers)
        for (const [resource, allocation] of resources) yield { uid, container, resource, allocation };
  }
  return {
    get: (uid, container, resource) => pods.get(uid)?.get(container)?.get(resource),
    of: (uid, container) => pods.get(uid)?.get(container) ?? new Map(),
    set,
    drop: (uid, onlyPending = false) => {
      const matching = [...all()].filter(
        (one) => one.uid === uid && !(onlyPending && one.allocation.response !== undefined),
      );
      for (const { container, resource } of matching) pods.get(uid)?.get(container)?.delete(resource);
      if (!onlyPending) pods.delete(uid);
      return matching.length > 0;
    },
    podUids: () => [...pods.keys()],
    inUse: (resource) =>
      new Set([...all()].flatMap((one) => (one.resource === resource ? one.allocation.devices : []))),
    entries: () =>
      [...all()].flatMap(({ uid, container, resource, allocation }) =>
        allocation.response
          ? [
              {
                PodUID: uid,
                ContainerName: container,
                ResourceName: resource,
                DeviceIDs: allocation.byNuma,
                AllocResp: allocationBytes(allocation.response),
              },
            ]
          : [],
      ),
    restore: (entries) => {
      for (const { PodUID, ContainerName, ResourceName, DeviceIDs, AllocResp } of entries)
        set(PodUID, ContainerName, ResourceName, {
          devices: [...new Set(Object.values(DeviceIDs).flat())],
          byNuma: DeviceIDs,
          response: allocationFrom(AllocResp),
        });
    },
  };
}
