// Proof of watch progress for servers whose progress responses are unreliable: etcd before 3.4.25 and 3.5.8
// may answer a progress request before it has sent all changes up to the revision it reports (etcd#15220).
//
// The newest revision was produced by some change. A reader that follows the whole history from the lowest
// progress mark up to a change at that revision has therefore seen every change, and knows what each watch
// must still deliver before the mark holds.
import type { GrpcChannel } from "#http";
import { Compacted, type Revision } from "../store.ts";
import { calls } from "./calls.ts";
import { inRange } from "./keys.ts";
import type { EtcdWatch } from "./watch.ts";

const everything = { key: Uint8Array.of(0), rangeEnd: Uint8Array.of(0) };

/** Determines for each watch the last change it must have delivered before a mark at `revision` holds. */
export async function proveProgress(
  channel: GrpcChannel,
  watches: readonly EtcdWatch[],
  revision: Revision,
  limits: { readonly signal: AbortSignal; readonly deadlineMilliseconds: number },
): Promise<void> {
  const start = Math.min(...watches.map((watch) => watch.through));
  if (start >= revision) return;
  // At revision 1 there are no changes yet.
  if (revision <= 1) return watches.forEach((watch) => watch.prove(revision, 0));
  const last = new Map(watches.map((watch) => [watch, 0]));
  const stream = await channel.duplex(calls.watch, { ...limits, metadata: { hasleader: "true" } });
  try {
    await stream.send({
      createRequest: { ...everything, startRevision: Math.max(1, start), fragment: true },
    });
    let reached = 0;
    for await (const response of stream) {
      if (response.canceled) {
        if (response.compactRevision === 0) return;
        // Progress between the lowest mark and the compacted revision can no longer be proven for any watch.
        for (const watch of watches)
          if (watch.through < response.compactRevision) watch.fail(new Compacted(response.compactRevision));
        return;
      }
      for (const { kv } of response.events ?? []) {
        if (!kv) continue;
        reached = kv.modRevision;
        if (reached > revision) break;
        for (const watch of watches) if (inRange(watch.range, kv.key)) last.set(watch, reached);
      }
      // All changes of one revision come in one response, which may be fragmented.
      if (reached >= revision && !response.fragment) break;
    }
    for (const [watch, behind] of last) watch.prove(revision, behind);
  } finally {
    stream.cancel();
  }
}

/**
 * Reports whether a server of this version answers progress requests only after it has sent all changes they
 * cover.
 */
export function isProgressReliable(version: string): boolean {
  const [major = 0, minor = 0, patch = 0] = version.split(/[.-]/).map(Number);
  if (major !== 3) return major > 3;
  if (minor === 4) return patch >= 25;
  if (minor === 5) return patch >= 8;
  return minor > 5;
}
