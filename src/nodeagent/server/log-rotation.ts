// Rotates container logs: a log that exceeds the size limit is renamed, the runtime opens a new one, and old
// ones are compressed and limited in number.
import { constants } from "node:fs";
import { open, readdir, rename, rm, stat } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { pipeline } from "node:stream/promises";
import { createGzip } from "node:zlib";
import type { Clock, Log } from "#base";
import type { ContainerRuntime } from "#cri";
import type { PodRegistry } from "../interfaces.ts";
import { uidOf } from "../pod.ts";
import { openLog } from "./cri-log.ts";

export interface LogRotationOptions {
  readonly clock: Clock;
  readonly log: Log;
  readonly runtime: ContainerRuntime;
  readonly registry: PodRegistry;
  /** Negative means unlimited. */
  readonly largestBytes: number;
  readonly mostFiles: number;
}

const periodMilliseconds = 10_000;

/** Rotates logs periodically until the signal is aborted. */
export async function logRotation(options: LogRotationOptions, signal: AbortSignal): Promise<void> {
  if (options.largestBytes < 0) return;
  while (!signal.aborted) {
    await options.clock.sleep(periodMilliseconds, signal).catch(() => undefined);
    if (!signal.aborted) await rotateLogs(options);
  }
}

/** Checks the log of every running container once. */
export async function rotateLogs({
  registry,
  runtime,
  clock,
  log,
  largestBytes,
  mostFiles,
}: LogRotationOptions): Promise<void> {
  for (const pod of registry.pods()) {
    for (const { id, state, logPath } of registry.containers(uidOf(pod))) {
      if (state !== "running" || logPath === "") continue;
      try {
        const found = await stat(logPath).catch(() => undefined);
        if (!found) {
          // The log path is missing because a rotation was interrupted after the rename: the runtime must
          // open a new file.
          await runtime.reopenContainerLog(id);
        } else if (found.size >= largestBytes) await rotate(logPath, id);
      } catch (error) {
        log.error("failed to rotate container log", {
          container: id,
          path: logPath,
          error: (error as Error).message,
        });
      }
    }
  }

  async function rotate(path: string, id: string): Promise<void> {
    const [folder, name] = [dirname(path), basename(path)];
    await tidy(folder, name);
    const aside = join(folder, `${name}.${stampOf(clock.now())}`);
    await rename(path, aside);
    try {
      await runtime.reopenContainerLog(id);
    } catch (error) {
      await rename(aside, path);
      throw error;
    }
  }

  /** Makes room for one more: removes the oldest rotated logs and compresses the others. */
  async function tidy(folder: string, name: string): Promise<void> {
    const ours = (await readdir(folder, { withFileTypes: true })).filter((one) =>
      one.name.startsWith(`${name}.`),
    );
    for (const one of ours)
      if (one.name.endsWith(".tmp")) await rm(join(folder, one.name), { force: true, recursive: true });
    const aside = ours
      .filter((one) => one.isFile() && !one.name.endsWith(".tmp"))
      .map((one) => one.name)
      .toSorted();
    const tooMany = aside.splice(0, Math.max(0, aside.length - (mostFiles - 2)));
    for (const one of tooMany) await rm(join(folder, one), { force: true });
    for (const one of aside) if (!one.endsWith(".gz")) await pack(join(folder, one));
  }
}

/**
 * Compresses a rotated log. A pod with access to the directory may have replaced it meanwhile, or put something
 * in the place of the draft: links are not followed, and the draft is a new file.
 */
async function pack(path: string): Promise<void> {
  const draft = `${path}.tmp`;
  await using from = await openLog(path, constants.O_NOFOLLOW);
  await using to = await open(draft, "wx", (await from.stat()).mode);
  await pipeline(from.createReadStream(), createGzip(), to.createWriteStream());
  await rename(draft, `${path}.gz`);
  await rm(path);
}

/** Formats a time as `20240102-030405`. */
const stampOf = (now: number): string =>
  new Date(now).toISOString().slice(0, 19).replaceAll(/[-:]/g, "").replace("T", "-");
