// Looks at the machine, its file systems and its runtime, and makes of it what the node's status says.
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
  /** Whether the hard thresholds lessen what pods may use. */
  readonly reserveThresholds: boolean;
  /** The pressure conditions that hold. */
  readonly pressures: () => readonly string[];
  readonly localStorageIsolation: boolean;
  readonly maxImages: number;
  /** What plug-ins add to what the node has. */
  readonly devices?: () => { readonly capacity: Amounts; readonly allocatable: Amounts };
  /** Attachable volumes that are mounted, or about to be. */
  readonly volumesInUse?: () => readonly string[];
  /** Troubles that others know of, such as a worker that hangs. */
  readonly troubles?: () => readonly string[];
  readonly machine?: () => Promise<Machine>;
}

const addressMilliseconds = 60_000;
const patienceMilliseconds = 5000;

/** Gives the function that node life asks again and again. The machine itself is read once. */
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
    await lookAtImages();
    const version = runtimeHealth.version();
    const devices = options.devices?.();
    const facts: NodeStatusFacts = {
      machine,
      capacity: { ...capacity, ...devices?.capacity },
      allocatable: {
        ...allocatableOf(capacity, options.reserved, options.reserveThresholds ? options.hardThresholds : {}),
        ...devices?.allocatable,
      },
      addresses: await ownAddresses(),
      hostname: options.hostname,
      runtimeVersion: version ? `${version.runtimeName}://${plainVersion(version.runtimeVersion)}` : "",
      agentVersion: options.agentVersion,
      images,
      ...(options.volumesInUse && { volumesInUse: options.volumesInUse() }),
    };
    const troubles = [...runtimeHealth.troubles(), ...(options.troubles?.() ?? [])];
    const notes = machine.appArmor ? ["AppArmor enabled"] : [];
    return { facts, health: { ...pressures(), troubles, notes } };
  };

  /** Names are not looked up at every look. */
  async function ownAddresses(): Promise<readonly string[]> {
    if (!addresses || clock.now() - addresses.at > addressMilliseconds)
      addresses = {
        at: clock.now(),
        found: await nodeAddresses({ ...options.addresses, hostname: options.hostname }),
      };
    return addresses.found;
  }

  async function lookAtImages(): Promise<void> {
    try {
      images = imagesOf(await soon((signal) => runtime.listImages(undefined, signal)), options.maxImages);
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

  /** Asks the runtime, but no longer than the node's status can wait: what was known before will do. */
  async function soon<T>(ask: (signal: AbortSignal) => Promise<T>): Promise<T> {
    const late = new AbortController();
    const cancel = clock.after(patienceMilliseconds, () =>
      late.abort(new Error(`no answer within ${patienceMilliseconds} ms`)),
    );
    try {
      return await ask(late.signal);
    } finally {
      cancel();
    }
  }
}

/**
 * A release by its numbers, with what a well-formed version adds to three of them; what a packager added is
 * left out.
 */
export function plainVersion(text: string): string {
  const trimmed = text.trim().replace(/^v/, "");
  const wellFormed = /^\d+\.\d+\.\d+(?:-[0-9A-Za-z.-]+)?(?:\+[0-9A-Za-z.-]+)?$/.test(trimmed);
  return wellFormed ? trimmed : (/^\d+(?:\.\d+)+/.exec(trimmed)?.[0] ?? trimmed);
}
