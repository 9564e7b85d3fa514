// A reply that no client reads: its stream runs nevertheless, into a closed sink, since filters, watches and
// proxies release what they hold when it ends.
import type { Reply, Sink } from "./call.ts";

/** Not shared: a signal keeps the listeners that are added to it. */
const closedSink = (): Sink => ({
  write: () => undefined,
  backlogBytes: 0,
  drained: () => Promise.resolve(),
  closed: AbortSignal.abort(new Error("the client closed the connection")),
});

export async function discardReply({ body }: Pick<Reply, "body">): Promise<void> {
  if (body && "stream" in body) await body.stream(closedSink()).catch(() => undefined);
}
