// Keeps one of several parts of a process running: restarts it after a failure, with growing delays,
// independently of the others.
import { clusterView } from "#controllerkit";
import type { ClientProgramParts } from "./client-program.ts";

const initialBackoff = 500;
const maxBackoff = 60_000;

/**
 * Runs the work until it returns or the signal aborts. Each attempt has its own informers, which are stopped
 * when it fails.
 */
export async function keepRunning(
  name: string,
  parts: ClientProgramParts,
  work: (attempt: ClientProgramParts) => Promise<void>,
  failed: (reason: string) => void,
): Promise<void> {
  const { client, clock } = parts;
  const log = parts.log.with({ part: name });
  for (let failures = 0; !parts.signal.aborted; failures++) {
    const attemptEnd = new AbortController();
    const signal = AbortSignal.any([parts.signal, attemptEnd.signal]);
    try {
      await work({ ...parts, log, signal, view: clusterView({ client, clock, signal, log }) });
      return;
    } catch (error) {
      const delayMilliseconds = Math.min(maxBackoff, initialBackoff * 2 ** failures);
      const { message } = error as Error;
      log.error("failed; it will be restarted", { error: message, inMilliseconds: delayMilliseconds });
      failed(message);
      attemptEnd.abort();
      await clock.sleep(delayMilliseconds, parts.signal).catch(() => undefined);
    }
  }
}
