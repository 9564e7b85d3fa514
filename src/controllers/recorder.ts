// Events that the loops write. One that repeats counts up in place; when too many wait, the newest are
// dropped and counted.
import { ApiError, type Clock, type Log, microTimeOfMillis } from "#base";
import { type AnyObject, type ApiClient, kinds } from "#client";

export interface Happening {
  readonly regarding: AnyObject;
  readonly type: "Normal" | "Warning";
  readonly reason: string;
  readonly action: string;
  readonly note: string;
}

export interface Recorder {
  record(happening: Happening): void;
  /** Resolves when everything recorded so far has been sent or given up. */
  sent(): Promise<void>;
}

const mostWaiting = 1000;
const mostKnown = 1000;
const longestNote = 1024;

export function recorder(client: ApiClient, clock: Clock, log: Log, controller: string): Recorder {
  const events = client.of(kinds.events);
  const known = new Map<string, { readonly name: string; readonly namespace: string; count: number }>();
  let waiting = 0;
  let dropped = 0;
  let last = Promise.resolve();
  let stamp = 0n;

  const nameFor = (object: string): string => {
    const now = BigInt(Math.trunc(clock.now())) * 1_000_000n;
    stamp = now > stamp ? now : stamp + 1n;
    return `${object}.${stamp.toString(16)}`;
  };
  const send = async ({ regarding, type, reason, action, note }: Happening): Promise<void> => {
    const { apiVersion, kind, metadata } = regarding;
    const key = JSON.stringify([metadata.uid, reason, note]);
    const at = microTimeOfMillis(clock.now());
    const before = known.get(key);
    if (before) {
      const series = { count: before.count + 1, lastObservedTime: at };
      const found = await events
        .patch(before.name, "merge", { series }, { namespace: before.namespace })
        .then(() => true, gone);
      if (found) {
        before.count++;
        return;
      }
    }
    const namespace = metadata.namespace || "default";
    const name = nameFor(metadata.name ?? "");
    await events.create({
      metadata: { name, namespace },
      eventTime: at,
      reportingController: controller,
      reportingInstance: controller,
      action,
      reason,
      regarding: {
        apiVersion,
        kind,
        namespace: metadata.namespace,
        name: metadata.name,
        uid: metadata.uid,
        resourceVersion: metadata.resourceVersion,
      },
      note: note.slice(0, longestNote),
      type,
    });
    known.delete(key);
    known.set(key, { name, namespace, count: 1 });
    if (known.size > mostKnown) known.delete(known.keys().next().value!);
  };
  return {
    record: (happening) => {
      if (waiting >= mostWaiting) {
        if (dropped++ === 0)
          log.warn("events come faster than they can be written; some are dropped", { controller });
        return;
      }
      waiting++;
      last = last
        .then(() => send(happening))
        .catch((error: unknown) =>
          log.verbose(2, "an event could not be written", {
            reason: happening.reason,
            error: (error as Error).message,
          }),
        )
        .finally(() => {
          if (--waiting > 0 || dropped === 0) return;
          log.warn("events were dropped", { controller, count: dropped });
          dropped = 0;
        });
    },
    sent: () => last,
  };
}

function gone(error: unknown): boolean {
  if (error instanceof ApiError && error.code === 404) return false;
  throw error;
}
