// watch: frames as they happen, until the client, the clock or the server ends it.
import { expired } from "#base";
import type { Reply, Sink } from "#http";
import { Compacted } from "#store";
import { NotYet, type Watcher, bytesOf } from "#watchcache";
import type { Endpoint } from "#registry";
import type { ApiCall } from "../api-call.ts";
import { statusObject } from "../represent/status.ts";
import { contentType } from "../represent/negotiate.ts";
import type { Representation } from "../represent/representation.ts";
import { type EndpointContext, type Endpointed, objectForms, represented } from "./context.ts";
import { type ListOptions, listOptions } from "./options.ts";
import { readError, revisionOf } from "./read.ts";

/** A watcher this far behind is closed: one slow reader must not hold back or fill up the server. */
const mostBacklogBytes = 8 * 1024 * 1024;
const bookmarkEveryMilliseconds = 60_000;
const bookmarkBeforeEndMilliseconds = 2_000;
/** What a timer can hold, about 24 days. */
const longestSeconds = Math.floor((2 ** 31 - 1) / 1000);

export const watch: Endpointed = async (context, call, endpoint) => {
  const { as } = represented(context, call, endpoint, objectForms, ["json", "protobuf"]);
  const options = listOptions(call, endpoint, context.gates);
  const version = revisionOf(options.resourceVersion);
  const asked = options.timeoutSeconds !== undefined && options.timeoutSeconds > 0;
  const seconds = asked ? Math.min(options.timeoutSeconds, longestSeconds) : context.minRequestTimeoutSeconds * (1 + Math.random());
  const stream = (sink: Sink): Promise<void> => follow(context, call, endpoint, options, version, seconds, as, sink);
  const type = contentType(as.media, endpoint.resource.dialect);
  const reply: Reply = { status: 200, headers: { "content-type": as.media === "protobuf" ? `${type};stream=watch` : type }, body: { stream } };
  return reply;
};

async function follow(
  context: EndpointContext,
  call: ApiCall,
  endpoint: Endpoint,
  options: ListOptions,
  version: number | undefined,
  seconds: number,
  as: Representation,
  sink: Sink,
): Promise<void> {
  const { resource } = endpoint;
  const { promise: over, resolve } = Promise.withResolvers<void>();
  const stop = new AbortController();
  const end = (): void => {
    stop.abort();
    resolve();
  };
  let caughtUp = false;
  const cancels: (() => void)[] = [];
  const marks = bookmarks(context, options, resource.strategy.bookmarks !== false, as, sink, version ?? 0);
  const delivered = context.watchEvents?.(endpoint.group, endpoint.version, endpoint.kind);
  const watcher: Watcher = {
    deliver: (frames) => {
      delivered?.add(frames.length);
      sink.write(bytesOf(frames, as));
      marks.sent(frames.at(-1)!.item.revision);
      if (sink.backlogBytes > mostBacklogBytes) end();
    },
    drained: () => sink.drained(),
    ended: end,
  };
  sink.closed.addEventListener("abort", () => end(), { once: true });
  context.closing.addEventListener("abort", end, { once: true });
  cancels.push(context.clock.after(seconds * 1000, end));
  cancels.push(marks.start(seconds * 1000, () => (caughtUp ? resource.source.lastChange() : 0)));
  if (sink.closed.aborted || context.closing.aborted) end();
  try {
    const below = resource.namespaced && call.target.namespace ? `${call.target.namespace}/` : "";
    const from = options.sendInitialEvents === true || version === undefined || version === 0 ? (options.sendInitialEvents === false ? "now" : "state") : version;
    await resource.source.watch({ below, selector: options.selector, from, signal: stop.signal }, watcher);
    caughtUp = true;
    if (options.sendInitialEvents === true && options.bookmarks) sink.write(as.bookmark(resource.source.revision(), true));
    await over;
  } catch (error) {
    const known = error instanceof Compacted ? expired(`too old resource version: ${version} (${error.compacted})`) : readError(error);
    if (!(error instanceof NotYet)) sink.write(as.error(statusObject(known)));
  } finally {
    stop.abort();
    context.closing.removeEventListener("abort", end);
    for (const cancel of cancels) cancel();
  }
}

/** Marks that tell an idle watcher how far it is: once a minute, and shortly before the end, when something newer happened on the kind. */
function bookmarks(
  context: EndpointContext,
  options: ListOptions,
  kindHasThem: boolean,
  as: Representation,
  sink: Sink,
  from: number,
): { sent(revision: number): void; start(lifeMilliseconds: number, changed: () => number): () => void } {
  let told = from;
  return {
    sent: (revision) => {
      told = Math.max(told, revision);
    },
    start: (lifeMilliseconds, changed) => {
      if (!options.bookmarks || !kindHasThem) return () => undefined;
      let cancel = (): void => undefined;
      const began = context.clock.now();
      const plan = (): void => {
        const left = lifeMilliseconds - (context.clock.now() - began);
        const wait = left > bookmarkBeforeEndMilliseconds ? Math.min(bookmarkEveryMilliseconds, left - bookmarkBeforeEndMilliseconds) : left;
        if (wait <= 0) return;
        cancel = context.clock.after(wait, () => {
          const revision = changed();
          if (revision > told) {
            sink.write(as.bookmark(revision));
            told = revision;
          }
          plan();
        });
      };
      plan();
      return () => cancel();
    },
  };
}
