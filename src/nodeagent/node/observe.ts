// Looks at the machine, its file systems and its runtime, and makes of it what the node's status says.
import type { Clock, Log } from "#base";
import type { ContainerRuntime } from "#cri";
import { type Filesystem, type Machine, filesystemOf, momentOf, readMachine } from "../resources/machine.ts";
import { type AddressSources, nodeAddresses } from "./addresses.ts";
import { type Amounts, allocatableOf, capacityOf } from "./capacity.ts";
import type { NodeHealth } from "./conditions.ts";
import { imagesOf } from "./images.ts";
import type { StatusFacts } from "./node-object.ts";
import { pressureGauge } from "./pressure.ts";
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
  readonly pressureTransitionMilliseconds: number;
  readonly localStorageIsolation: boolean;
  readonly maxImages: number;
  /** Troubles that others know of, such as a worker that hangs. */
  readonly troubles?: () => readonly string[];
  readonly machine?: () => Promise<Machine>;
}

const addressMilliseconds = 60_000;
const patienceMilliseconds = 5000;

/** Gives the function that node life asks again and again. The machine itself is read once. */
export function nodeObserver(
  options: ObserveOptions,
): () => Promise<{ facts: StatusFacts; health: NodeHealth }> {
  const { clock, log, runtime, runtimeHealth } = options;
  const gauge = pressureGauge(options.hardThresholds, options.pressureTransitionMilliseconds);
  let machine: Machine | undefined;
  let images: StatusFacts["images"] = [];
  let imagesAt: string | undefined;
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
    const [imagesDisk] = await Promise.all([imageDisk(disk), lookAtImages()]);
    const version = runtimeHealth.version();
    const facts: StatusFacts = {
      machine,
      capacity,
      allocatable: allocatableOf(
        capacity,
        options.reserved,
        options.reserveThresholds ? options.hardThresholds : {},
      ),
      addresses: await ownAddresses(),
      hostname: options.hostname,
      runtimeVersion: version ? `${version.runtimeName}://${plainVersion(version.runtimeVersion)}` : "",
      agentVersion: options.agentVersion,
      images,
    };
    const troubles = [...runtimeHealth.troubles(), ...(options.troubles?.() ?? [])];
    const notes = machine.appArmor ? ["AppArmor enabled"] : [];
    return { facts, health: { ...(await pressures(machine, disk, imagesDisk)), troubles, notes } };
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

  async function pressures(
    machine_: Machine,
    disk: Filesystem,
    images_: Filesystem,
  ): Promise<Pick<NodeHealth, "memoryPressure" | "diskPressure" | "pidPressure">> {
    const { availableMemoryBytes, processes } = await momentOf();
    return gauge(
      {
        "memory.available": { available: availableMemoryBytes, capacity: machine_.memoryBytes },
        "nodefs.available": { available: disk.availableBytes, capacity: disk.capacityBytes },
        "nodefs.inodesFree": { available: disk.inodesFree, capacity: disk.inodes },
        "imagefs.available": { available: images_.availableBytes, capacity: images_.capacityBytes },
        "imagefs.inodesFree": { available: images_.inodesFree, capacity: images_.inodes },
        "pid.available": { available: machine_.maxPids - processes, capacity: machine_.maxPids },
      },
      clock.now(),
    );
  }

  async function lookAtImages(): Promise<void> {
    try {
      images = imagesOf(await soon((signal) => runtime.listImages(undefined, signal)), options.maxImages);
    } catch (error) {
      log.verbose(2, "images could not be listed", { error: (error as Error).message });
    }
  }

  async function imageDisk(fallback: Filesystem): Promise<Filesystem> {
    try {
      imagesAt = (await soon((signal) => runtime.imageFsInfo(signal)))[0]?.fsId?.mountpoint;
    } catch (error) {
      log.verbose(2, "the file system of images could not be asked for", { error: (error as Error).message });
    }
    return imagesAt ? await filesystemOf(imagesAt).catch(() => fallback) : fallback;
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
