// Static pods from a file or a directory: watched, and read again periodically.
import { type FSWatcher, watch } from "node:fs";
import { readFile, readdir, stat } from "node:fs/promises";
import { basename, join } from "node:path";
import type { Pod } from "#api";
import type { Clock, Log } from "#base";
import { type ManifestOptions, ManifestError, readManifest } from "./static-pod.ts";

export interface FileSourceOptions extends Omit<ManifestOptions, "origin" | "isFile"> {
  readonly path: string;
  readonly periodMilliseconds: number;
  readonly clock: Clock;
  readonly log: Log;
  readonly onPods: (pods: readonly Pod[]) => void;
  /** Reads a file. */
  readonly read?: (file: string) => Promise<string>;
  /** Called about an invalid manifest, once per content. */
  readonly onProblem?: (message: string) => void;
}

const quietMilliseconds = 100;
const maxManifestBytes = 10 * 1024 * 1024;

/** Follows the path until the signal is aborted. */
export async function fileSource(options: FileSourceOptions, signal: AbortSignal): Promise<void> {
  const { clock, log, path, read = (file: string) => readFile(file, "utf8") } = options;
  const reported = new Map<string, string>();
  const last = new Map<string, readonly Pod[]>();
  /** The content of each manifest that was last parsed. */
  const parsed = new Map<string, string>();
  /** How often a name was created or removed since the files were last read. */
  const renames = new Map<string, number>();
  let wake = (): void => undefined;
  let watcher: FSWatcher | undefined;
  const follow = (): void => {
    if (watcher) return;
    try {
      watcher = watch(path, { persistent: false }, (event, name) => {
        if (event === "rename" && name !== null) renames.set(name, (renames.get(name) ?? 0) + 1);
        wake();
      });
      watcher.on("error", () => {
        watcher?.close();
        watcher = undefined;
      });
    } catch {
      // The path does not exist yet: the next periodic read finds it.
    }
  };
  signal.addEventListener("abort", () => watcher?.close(), { once: true });

  while (!signal.aborted) {
    follow();
    const woken = new Promise<void>((resolve) => (wake = resolve));
    try {
      const recreated = new Set([...renames].flatMap(([name, times]) => (times > 1 ? [name] : [])));
      renames.clear();
      const found: { readonly name: string; readonly pods: readonly Pod[] }[] = [];
      for (const file of await filesAt(path)) found.push({ name: basename(file), pods: await podsOf(file) });
      // A file removed and put back between two reads counts as removed: its pods end and are restarted.
      if (found.some(({ name }) => recreated.has(name)))
        options.onPods(found.flatMap(({ name, pods }) => (recreated.has(name) ? [] : pods)));
      options.onPods(found.flatMap(({ pods }) => pods));
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === "ENOENT") options.onPods([]);
      else log.error("failed to read static pods", { path, error: (error as Error).message });
    }
    await Promise.race([
      woken.then(() => clock.sleep(quietMilliseconds, signal)),
      clock.sleep(options.periodMilliseconds, signal),
    ]).catch(() => undefined);
  }

  /** Reads the pods of a manifest; if it is invalid or unreadable, its previous pods are kept. */
  async function podsOf(file: string): Promise<readonly Pod[]> {
    let text: string;
    try {
      text = await read(file);
    } catch (error) {
      const { code, message } = error as NodeJS.ErrnoException;
      if (code !== "ENOENT") {
        if (reported.get(file) !== message)
          log.error("failed to read static pod manifest", { file, error: message });
        reported.set(file, message);
        return last.get(file) ?? [];
      }
      text = "";
    }
    if (text.trim() === "") {
      last.delete(file);
      parsed.delete(file);
      return [];
    }
    try {
      if (text.length > maxManifestBytes)
        throw new ManifestError(`${file}: larger than ${maxManifestBytes} bytes`);
      const onIgnored = parsed.get(file) === text ? undefined : options.onIgnored;
      parsed.set(file, text);
      const pods = readManifest(text, { ...options, onIgnored, origin: file, isFile: true });
      last.set(file, pods);
      reported.delete(file);
      return pods;
    } catch (error) {
      if (reported.get(file) !== text) {
        reported.set(file, text);
        log.error("invalid static pod manifest", { error: (error as Error).message });
        options.onProblem?.((error as Error).message);
      }
      return last.get(file) ?? [];
    }
  }
}

async function filesAt(path: string): Promise<string[]> {
  if (!(await stat(path)).isDirectory()) return [path];
  const entries = await readdir(path, { withFileTypes: true });
  const named = entries.filter(({ name }) => !name.startsWith("."));
  const files = await Promise.all(
    named.map(async (entry) =>
      entry.isFile() ||
      (entry.isSymbolicLink() && (await stat(join(path, entry.name)).catch(() => undefined))?.isFile())
        ? join(path, entry.name)
        : undefined,
    ),
  );
  return files.filter((file) => file !== undefined).toSorted();
}
