// Observes the machine, its file systems and its runtime for the node status.
import type { Clock, Log } from "#base";
import type { ContainerRuntime } from "#cri";
import { type Machine, filesystemOf, readMachine } from "../resources/machine.ts";
import { type AddressSources, nodeAddresses } from "./addresses.ts";
import { type Amounts, allocatableOf, capacityOf } from "./capacity.ts";
import type { NodeHealth } from "./conditions.ts";
import { imagesOf } from "./images.ts";
import type { NodeStatusFacts } from "./node-object.ts";
import type { RuntimeHealth } from "./runtime-health.ts";

export interface ObserveOptions {
  readonly clock: Clock;
  readonly log: Log;
  readonly runtime: ContainerRuntime;
  readonly runtimeHealth: RuntimeHealth;
  readonly hostname: string;
  readonly addresses: Pick<AddressSources, "given">;
  readonly rootDirectory: string;
  readonly agentVersion: string;
  readonly maxPods: number;
  readonly podsPerCore: number;
  readonly reserved: readonly Amounts[];
  readonly hardThresholds: Amounts;
  /** Whether hard eviction thresholds are subtracted from the allocatable resources. */
  readonly reserveThresholds: boolean;
  /** Returns the current pressure conditions. */
  readonly pressures: () => readonly string[];
  readonly localStorageIsolation: boolean;
  readonly maxImages: number;
  /** Returns the devices of plug-ins, which are added to the node's resources. */
  readonly devices?: () => { readonly capacity: Amounts; readonly allocatable: Amounts };
  /** Returns the attachable volumes that are mounted or about to be. */
  /** Undefined until the volumes of an earlier agent process are known: they must not look unused. */
  readonly volumesInUse?: () => readonly string[] | undefined;
  /** Returns problems reported by other parts of the agent, such as a late relist. */
  readonly problems?: () => readonly string[];
  readonly machine?: () => Promise<Machine>;
}

const addressMilliseconds = 60_000;
const runtimeTimeoutMilliseconds = 5000;

/**
 * Returns the function that `nodeLife` calls for each status update. The machine information is read once.
 */
export function nodeObserver(
  options: ObserveOptions,
): () => Promise<{ facts: NodeStatusFacts; health: NodeHealth }> {
  const { clock, log, runtime, runtimeHealth } = options;
  let machine: Machine | undefined;
  let images: NodeStatusFacts["images"] = [];
  let addresses: { readonly at: number; readonly found: readonly string[] } | undefined;
  return async () => {
    machine ??= await (options.machine ?? readMachine)();
    const disk = await filesystemOf(options.rootDirectory);
    const { maxPods, podsPerCore } = options;
    const capacity = capacityOf(machine, {
      maxPods,
      podsPerCore,
      ...(options.localStorageIsolation && { localStorageBytes: disk.capacityBytes }),
    });
    await updateImages();
    const version = runtimeHealth.version();
    const devices = options.devices?.();
    const volumesInUse = options.volumesInUse?.();
    const facts: NodeStatusFacts = {
      machine,
      capacity: { ...capacity, ...devices?.capacity },
      allocatable: {
        ...allocatableOf(capacity, options.reserved, options.reserveThresholds ? options.hardThresholds : {}),
        ...devices?.allocatable,
      },
      addresses: await cachedAddresses(),
      hostname: options.hostname,
      runtimeVersion: version ? `${version.runtimeName}://${plainVersion(version.runtimeVersion)}` : "",
      agentVersion: options.agentVersion,
      images,
      ...(volumesInUse && { volumesInUse }),
    };
    const problems = [...runtimeHealth.problems(), ...(options.problems?.() ?? [])];
    const notes = machine.appArmor ? ["AppArmor enabled"] : [];
    return { facts, health: { ...pressures(), problems, notes } };
  };

  /** Returns the node's addresses, cached because they may need name lookups. */
  async function cachedAddresses(): Promise<readonly string[]> {
    if (!addresses || clock.monotonic() - addresses.at > addressMilliseconds)
      addresses = {
        at: clock.monotonic(),
        found: await nodeAddresses({ ...options.addresses, hostname: options.hostname }),
      };
    return addresses.found;
  }

  async function updateImages(): Promise<void> {
    try {
      images = imagesOf(
        await withTimeout((signal) => runtime.listImages(undefined, signal)),
        options.maxImages,
      );
    } catch (error) {
      log.verbose(2, "failed to list images", { error: (error as Error).message });
    }
  }

  function pressures(): Pick<NodeHealth, "memoryPressure" | "diskPressure" | "pidPressure"> {
    const types = options.pressures();
    return {
      memoryPressure: types.includes("MemoryPressure"),
      diskPressure: types.includes("DiskPressure"),
      pidPressure: types.includes("PIDPressure"),
    };
  }

  /**
   * Calls the runtime with a timeout, so that the status update is not delayed; the caller keeps the old
   * value.
   */
  async function withTimeout<T>(call: (signal: AbortSignal) => Promise<T>): Promise<T> {
    const timeout = new AbortController();
    const cancel = clock.after(runtimeTimeoutMilliseconds, () =>
      timeout.abort(new Error(`no response within ${runtimeTimeoutMilliseconds} ms`)),
    );
    try {
      return await call(timeout.signal);
    } finally {
      cancel();
    }
  }
}

/**
 * Normalizes a runtime version: a semantic version stays complete except for a leading `v`; from others only
 * the leading numbers are kept, without a packager's suffix.
 */
export function plainVersion(text: string): string {
  const trimmed = text.trim().replace(/^v/, "");
  const wellFormed = /^\d+\.\d+\.\d+(?:-[0-9A-Za-z.-]+)?(?:\+[0-9A-Za-z.-]+)?$/.test(trimmed);
  return wellFormed ? trimmed : (/^\d+(?:\.\d+)+/.exec(trimmed)?.[0] ?? trimmed);
}
