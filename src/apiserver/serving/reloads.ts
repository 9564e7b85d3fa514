// Files that are reloaded while the server runs. An invalid version is rejected: the last valid one stays in
// effect, and the rejection is logged, counted and shown by /readyz?verbose until a valid version is loaded.
import { readFile } from "node:fs/promises";
import type { Clock, Log, Metrics } from "#base";

export interface ReloadReport {
  /** Reports that a new version is in use. */
  changed(): void;
  refused(error: Error): void;
}

export interface Reloads {
  /** Returns the report to which reloads of a setting's file are recorded. */
  of(setting: string): ReloadReport;
  /** Returns the settings whose current file is rejected. */
  refused(): readonly string[];
  /**
   * Returns a getter of a file's parsed content, which is parsed again whenever the text changes. `read`
   * throws if the text is invalid; for the first text that error reaches the caller.
   */
  watchFile<T>(setting: string, file: string, read: (text: string) => T, first: string): () => T;
}

export interface ReloadsOptions {
  readonly clock: Clock;
  readonly log: Log;
  readonly metrics: Metrics;
  readonly signal: AbortSignal;
}

const pollMilliseconds = 5000;

export function configReloads({ clock, log, metrics, signal }: ReloadsOptions): Reloads {
  const total = metrics.counter({
    name: "apiserver_config_reload_total",
    help: "Number of configuration file reloads, by setting and status.",
    stability: "ALPHA",
    labels: ["setting", "status"],
  });
  const rejected = new Set<string>();
  const of = (setting: string): ReloadReport => ({
    changed: () => {
      rejected.delete(setting);
      total.with(setting, "success").add();
      log.info("a changed file was reloaded", { setting });
    },
    refused: (error) => {
      rejected.add(setting);
      total.with(setting, "failure").add();
      log.error("a changed file cannot be used; the last good version is kept", {
        setting,
        error: error.message,
      });
    },
  });
  return {
    of,
    refused: () => [...rejected],
    watchFile: (setting, file, read, first) => {
      const report = of(setting);
      let seen = first;
      let current = read(first);
      const poll = async (): Promise<void> => {
        try {
          const text = await readFile(file, "utf8");
          if (text !== seen) {
            seen = text;
            current = read(text);
            report.changed();
          }
        } catch (error) {
          // A file may be missing briefly while it is replaced; the next poll reports it if it is invalid
          // then.
          if ((error as NodeJS.ErrnoException).code !== "ENOENT") report.refused(error as Error);
        }
        if (!signal.aborted) schedule();
      };
      const schedule = (): void => {
        cancel = clock.after(pollMilliseconds, () => void poll());
      };
      let cancel = (): void => undefined;
      signal.addEventListener("abort", () => cancel(), { once: true });
      schedule();
      return () => current;
    },
  };
}
