// Compaction by interval, with several servers taking turns: whoever first moves the shared key in an interval compacts what
// was old at the interval before. The key and its meaning are those of other servers of this API, so both can share one etcd.
import type { Clock } from "#base";
import type { GrpcChannel } from "#http";
import { calls, refusalOf } from "./calls.ts";
import { comparison, comparisonTarget } from "./messages.ts";

const sharedKey = Buffer.from("compact_rev_key");

export interface CompactorOptions {
  readonly channel: GrpcChannel;
  readonly clock: Clock;
  readonly intervalMilliseconds: number;
  readonly deadlineMilliseconds: number;
  /** Told after every turn: what this server compacted, if it was its turn, or what went wrong. */
  readonly report?: (turn: { readonly compacted?: number; readonly error?: unknown }) => void;
}

/** Runs until aborted. A turn that fails is simply the next one's work. */
export async function compactInTurns(options: CompactorOptions, signal: AbortSignal): Promise<void> {
  const { clock, intervalMilliseconds, report } = options;
  let seen = { version: 0, revision: 0 };
  while (!signal.aborted) {
    await clock.sleep(intervalMilliseconds, signal).catch(() => {});
    if (signal.aborted) return;
    try {
      const { compacted, ...now } = await turn(options, seen, signal);
      seen = now;
      report?.(compacted === undefined ? {} : { compacted });
    } catch (error) {
      if (!signal.aborted) report?.({ error });
    }
  }
}

async function turn(
  { channel, deadlineMilliseconds }: CompactorOptions,
  seen: { readonly version: number; readonly revision: number },
  signal: AbortSignal,
): Promise<{ readonly version: number; readonly revision: number; readonly compacted?: number }> {
  const limits = { signal, deadlineMilliseconds };
  const claim = await channel.unary(
    calls.txn,
    {
      compare: [{ result: comparison.equal, target: comparisonTarget.version, key: sharedKey, version: seen.version }],
      success: [{ requestPut: { key: sharedKey, value: Buffer.from(String(seen.revision)) } }],
      failure: [{ requestRange: { key: sharedKey } }],
    },
    limits,
  );
  const revision = claim.header!.revision;
  if (!claim.succeeded) return { version: claim.responses?.[0]?.responseRange?.kvs?.[0]?.version ?? 0, revision };
  const version = seen.version + 1;
  if (seen.revision === 0) return { version, revision };
  try {
    await channel.unary(calls.compact, { revision: seen.revision }, limits);
  } catch (error) {
    if (refusalOf(error) !== "compacted") throw error;
  }
  return { version, revision, compacted: seen.revision };
}
