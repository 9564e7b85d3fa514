// Files that are read again while the server runs. A version that cannot be used is refused: the last good one
// is kept, and the refusal is logged, counted and shown by /readyz?verbose until a good version comes.
import { readFile } from "node:fs/promises";
import type { Clock, Log, Metrics } from "#base";

export interface ReloadReport {
  /** A new version is in use. */
  changed(): void;
  refused(error: Error): void;
}

export interface Reloads {
  /** Where the outcome of reading the file of a setting again is told. */
  of(setting: string): ReloadReport;
  /** Settings whose present file is refused. */
  refused(): readonly string[];
  /**
   * What a file says, read again whenever its text changes. `read` throws where it cannot be used; at first that
   * is the caller's to handle.
   */
  followed<T>(setting: string, file: string, read: (text: string) => T, first: string): () => T;
}

export interface ReloadsOptions {
  readonly clock: Clock;
  readonly log: Log;
  readonly metrics: Metrics;
  readonly signal: AbortSignal;
}

const lookEveryMilliseconds = 5000;

export function configReloads({ clock, log, metrics, signal }: ReloadsOptions): Reloads {
  const total = metrics.counter({
    name: "apiserver_config_reload_total",
    help: "Configuration files read again, by setting and by whether the new version could be used.",
    stability: "ALPHA",
    labels: ["setting", "status"],
  });
  const broken = new Set<string>();
  const of = (setting: string): ReloadReport => ({
    changed: () => {
      broken.delete(setting);
      total.with(setting, "success").add();
      log.info("a changed file was reloaded", { setting });
    },
    refused: (error) => {
      broken.add(setting);
      total.with(setting, "failure").add();
      log.error("a changed file cannot be used; the last good version is kept", {
        setting,
        error: error.message,
      });
    },
  });
  return {
    of,
    refused: () => [...broken],
    followed: (setting, file, read, first) => {
      const report = of(setting);
      let seen = first;
      let current = read(first);
      const look = async (): Promise<void> => {
        try {
          const text = await readFile(file, "utf8");
          if (text !== seen) {
            seen = text;
            current = read(text);
            report.changed();
          }
        } catch (error) {
          // A file that is gone for a moment, while it is replaced, is told once it is there and still wrong.
          if ((error as NodeJS.ErrnoException).code !== "ENOENT") report.refused(error as Error);
        }
        if (!signal.aborted) again();
      };
      const again = (): void => {
        cancel = clock.after(lookEveryMilliseconds, () => void look());
      };
      let cancel = (): void => undefined;
      signal.addEventListener("abort", () => cancel(), { once: true });
      again();
      return () => current;
    },
  };
}
