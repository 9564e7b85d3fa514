// The state files of the CPU and memory managers: restored at start, written at every change. The agent does
// not start with an invalid or incompatible file, because running pods may depend on it.
import type { CheckpointStore } from "../interfaces.ts";
import {
  type CpuCheckpoint,
  type MemoryCheckpoint,
  cpuCheckpointText,
  fnv32a,
  cpuPreimage,
  memoryCheckpointText,
  memoryPreimage,
} from "./checkpoints.ts";

export const cpuStateName = "cpu_manager_state";
export const memoryStateName = "memory_manager_state";

/** A state file in error messages. */
export interface StateFile {
  readonly manager: "CPU" | "memory";
  readonly path: string;
}

/** Reads the state of the CPU manager; returns undefined if there is no file yet. */
export async function readCpuState(
  store: CheckpointStore,
  policyName: string,
  file: StateFile,
): Promise<CpuCheckpoint | undefined> {
  return await restored<CpuCheckpoint>(await store.read(cpuStateName), policyName, file, (state) =>
    fnv32a(cpuPreimage(state)),
  );
}

export async function readMemoryState(
  store: CheckpointStore,
  policyName: string,
  file: StateFile,
): Promise<MemoryCheckpoint | undefined> {
  return await restored<MemoryCheckpoint>(await store.read(memoryStateName), policyName, file, (state) =>
    fnv32a(memoryPreimage(state)),
  );
}

export const writeCpuState = (store: CheckpointStore, state: CpuCheckpoint): Promise<void> =>
  store.write(cpuStateName, cpuCheckpointText(state));
export const writeMemoryState = (store: CheckpointStore, state: MemoryCheckpoint): Promise<void> =>
  store.write(memoryStateName, memoryCheckpointText(state));

async function restored<T extends CpuCheckpoint | MemoryCheckpoint>(
  text: string | undefined,
  policyName: string,
  file: StateFile,
  checksumOf: (state: T) => number,
): Promise<T | undefined> {
  if (text === undefined) return undefined;
  let found: T & { readonly checksum?: number };
  try {
    found = JSON.parse(text) as typeof found;
    if (typeof found !== "object" || found === null) throw new Error("it is not an object");
  } catch (error) {
    throw stateFileError(file, (error as Error).message);
  }
  const state = { ...found, entries: found.entries ?? {} } as T & { readonly checksum?: number };
  // Files of old releases have no checksum.
  if (found.checksum && found.checksum !== checksumOf(state))
    throw stateFileError(file, "checkpoint is corrupted");
  if (state.policyName !== policyName)
    throw stateFileError(
      file,
      `configured policy "${policyName}" differs from state checkpoint policy "${state.policyName}"`,
    );
  return state;
}

/** Returns an error that names the file and the remedy. */
export const stateFileError = ({ manager, path }: StateFile, why: string): Error =>
  new Error(
    `start ${manager.toLowerCase()} manager error: could not restore state from checkpoint: ${why}, ` +
      `please drain this node and delete the ${manager} manager checkpoint file "${path}" before restarting the agent`,
  );
