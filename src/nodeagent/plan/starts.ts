// Selects the containers that may start now from those the plan wants to start, and those that must wait and
// for how long. Pure; sync/ emits the events and starts the containers.
import type { Container, Pod } from "#api";
import { containerHash } from "../containers/hash.ts";
import { type ObservedPod, latest } from "../containers/observed.ts";
import { longNameOf, uidOf } from "../pod.ts";
import type { BackOff } from "./backoff.ts";

export interface StartFacts {
  readonly backOff: Pick<BackOff, "remaining" | "delay">;
  /** The last start errors, by container name. */
  readonly errors: ReadonlyMap<string, { readonly reason: string }>;
  readonly now: number;
}

/** A container that crashed and is in backoff. */
export interface Waiting {
  readonly container: Container;
  /** The message for the status and, in `event`, for the event. */
  readonly message: string;
  readonly event: string;
}

export interface Starts {
  readonly due: readonly Container[];
  readonly waiting: readonly Waiting[];
  /** Container exits that count towards the backoff of the containers starting now. */
  readonly restarts: readonly { readonly key: string; readonly endedAt: number }[];
  /** Milliseconds until the first waiting container may start. */
  readonly againMilliseconds?: number;
}

/** Retry interval of failures without a separate backoff. */
export const retryMilliseconds = 10_000;

export function startsNow(
  pod: Pod,
  observed: ObservedPod,
  wanted: readonly Container[],
  { backOff, errors, now }: StartFacts,
): Starts {
  const due: Container[] = [];
  const waiting: Waiting[] = [];
  const restarts: { key: string; endedAt: number }[] = [];
  const waits: number[] = [];
  for (const container of wanted) {
    const { name } = container;
    const last = observed.containers.find((one) => one.name === name && one.state === "exited");
    if (!last) {
      // A container that the runtime could not start and does not report as exited is retried at this
      // interval.
      const stuck = errors.get(name)?.reason === "RunContainerError" ? latest(observed, name) : undefined;
      const wait = stuck ? stuck.createdAt + retryMilliseconds - now : 0;
      // A creation in the future is from before the machine's clock was set back.
      if (wait > 0 && wait <= retryMilliseconds) waits.push(wait);
      else due.push(container);
      continue;
    }
    const key = `${uidOf(pod)}/${name}/${containerHash(container)}`;
    const endedAt = last.finishedAt ?? now;
    const wait = backOff.remaining(key, endedAt);
    if (wait > 0) {
      waits.push(wait);
      waiting.push({
        container,
        message: `back-off ${secondsText(backOff.delay(key))} restarting failed container=${name} pod=${longNameOf(pod)}`,
        event: `Back-off restarting failed container ${name} in pod ${longNameOf(pod)}`,
      });
      continue;
    }
    restarts.push({ key, endedAt });
    due.push(container);
  }
  return { due, waiting, restarts, ...(waits.length > 0 && { againMilliseconds: Math.min(...waits) }) };
}

function secondsText(milliseconds: number): string {
  const seconds = Math.round(milliseconds / 1000);
  return seconds < 60 ? `${seconds}s` : `${Math.floor(seconds / 60)}m${seconds % 60}s`;
}
