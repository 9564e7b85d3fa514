// The resources allocated to the containers of the node's pods, and the last decision about requested
// resizes. Both survive a restart of the agent: a pod with a pending resize is still admitted with its
// allocated resources.
import type { Pod, ResizeStatus } from "#api";
import type { Log } from "#base";
import { containersOf, uidOf } from "../pod.ts";
import type { CheckpointStore } from "../interfaces.ts";
import {
  type AllocationCheckpoint,
  type Amounts,
  allocationCheckpointText,
  parseAllocationCheckpoint,
} from "./allocation-checkpoint.ts";

export interface Allocations {
  /**
   * Returns the resources allocated to a container; null if it requests nothing, undefined if the container
   * is unknown.
   */
  of(uid: string, container: string): Amounts | null | undefined;
  /** Allocates the requested resources to the pod. */
  allocate(pod: Pod): void;
  status(uid: string): ResizeStatus | undefined;
  decide(uid: string, status: ResizeStatus | undefined): void;
  forget(uid: string): void;
  /** Returns the pod with its allocated CPU and memory in place of the requested ones. */
  allocated(pod: Pod): Pod;
  /** Resolves once the state has been written to disk. */
  saved(): Promise<void>;
}

export interface AllocationsOptions {
  readonly store: Pick<CheckpointStore, "read" | "write">;
  /** The kubelet's name of the state file. */
  readonly fileName: string;
  readonly log: Log;
}

export async function openAllocations({ store, fileName, log }: AllocationsOptions): Promise<Allocations> {
  const text = await store.read(fileName);
  const found = text === undefined ? undefined : parsed(text, fileName);
  const given = new Map(
    Object.entries(found?.allocations ?? {}).map(([uid, of]) => [uid, new Map(Object.entries(of))]),
  );
  const statuses = new Map(Object.entries(found?.statuses ?? {}) as [string, ResizeStatus][]);
  let written = text;
  let writing = Promise.resolve();
  const save = (): void => {
    const next = allocationCheckpointText({
      allocations: Object.fromEntries([...given].map(([uid, of]) => [uid, Object.fromEntries(of)])),
      statuses: Object.fromEntries(statuses),
    });
    if (next === written) return;
    written = next;
    writing = writing
      .then(() => (written === next ? store.write(fileName, next) : undefined))
      .catch((error: Error) => {
        written = undefined;
        log.error("failed to write allocated resources", { error: error.message });
      });
  };
  save();
  return {
    of: (uid, container) => given.get(uid)?.get(container),
    allocate: (pod) => {
      given.set(
        uidOf(pod),
        new Map(containersOf(pod).map(({ name, resources }) => [name, resources?.requests ?? null])),
      );
      save();
    },
    status: (uid) => statuses.get(uid),
    decide: (uid, status) => {
      if (statuses.get(uid) === status) return;
      if (status) statuses.set(uid, status);
      else statuses.delete(uid);
      save();
    },
    forget: (uid) => {
      if (given.delete(uid) || statuses.has(uid)) {
        statuses.delete(uid);
        save();
      }
    },
    allocated: (pod) => {
      const own = given.get(uidOf(pod));
      return own ? withRequests(pod, own) : pod;
    },
    saved: () => writing,
  };
}

function parsed(text: string, fileName: string): AllocationCheckpoint {
  try {
    return parseAllocationCheckpoint(text);
  } catch (error) {
    throw new Error(
      `could not restore state from checkpoint: ${(error as Error).message}, please drain this node and delete pod allocation checkpoint file ${JSON.stringify(fileName)} before restarting the agent`,
      { cause: error },
    );
  }
}

function withRequests(pod: Pod, given: ReadonlyMap<string, Amounts | null>): Pod {
  const containers = containersOf(pod).map((container) => {
    const amounts = given.get(container.name);
    const requests = container.resources?.requests;
    if (!amounts || !requests) return container;
    const { cpu, memory } = amounts;
    return {
      ...container,
      resources: {
        ...container.resources,
        requests: { ...requests, ...(cpu !== undefined && { cpu }), ...(memory !== undefined && { memory }) },
      },
    };
  });
  return { ...pod, spec: { ...pod.spec, containers } };
}
