// watch: streams events until the client, the timeout or the server ends it.
import { ApiError, expired } from "#base";
import type { Sink } from "#http";
import { Compacted } from "#store";
import { type Frame, RevisionTimeout, type FrameSink, bytesOf } from "#watchcache";
import type { Endpoint } from "#registry";
import type { ApiCall } from "./api-call.ts";
import { statusObject } from "./represent/status.ts";
import { checkStreams, contentType } from "./represent/negotiate.ts";
import type { Representation } from "./represent/representation.ts";
import { eventMessages, isWebSocket, webSocketReply } from "./web-socket.ts";
import { bookmarks } from "./bookmarks.ts";
import { type EndpointContext, type EndpointHandler, includeObject, represented } from "./context.ts";
import { type ListOptions, listOptions } from "./options.ts";
import { readError, revisionOf } from "./read.ts";

/** A watch with a larger backlog is ended: a slow client must not delay others or fill the memory. */
const maxBacklogBytes = 8 * 1024 * 1024;
/** After this time, initial events wait for the client rather than for the server, and need no seat. */
const unreadMilliseconds = 1000;
/** Maximum of a timer, about 24 days. */
const maxSeconds = Math.floor((2 ** 31 - 1) / 1000);

/** A watch request, parsed and validated before the response starts. */
interface WatchRequest {
  readonly context: EndpointContext;
  readonly call: ApiCall;
  readonly endpoint: Endpoint;
  readonly options: ListOptions;
  readonly version: number | undefined;
  readonly as: Representation;
  /** The requested form fits no event: the watch ends at the first one. */
  readonly mute: boolean;
}

export const watch: EndpointHandler = async (context, call, endpoint) => {
  // The form is checked before the options; the table's rows and streamability are checked after them.
  const { as, choice } = represented(context, call, endpoint, "watch");
  const options = listOptions(call, endpoint, context.gates);
  const version = revisionOf(options.resourceVersion);
  if (choice.form === "Table") {
    const include = includeObject(call);
    if (include instanceof ApiError) throw include;
  }
  checkStreams(choice, endpoint.resource.dialect);
  const request: WatchRequest = {
    context,
    call,
    endpoint,
    options,
    version,
    as,
    mute: choice.form === "PartialObjectMetadataList",
  };
  const type = contentType(as.media, endpoint.resource.dialect);
  const stream = (sink: Sink): Promise<void> => follow(request, sink);
  if (isWebSocket(call.call)) return webSocketReply(call.call, { ...eventMessages(as.media), stream });
  return {
    status: 200,
    headers: { "content-type": as.media === "protobuf" ? `${type};stream=watch` : type },
    body: { stream },
  };
};

/** The requested timeout, or a random one, so that watches started together do not end together. */
function secondsOf(
  { timeoutSeconds: requested = 0 }: ListOptions,
  { minRequestTimeoutSeconds: minimum }: EndpointContext,
): number {
  return Math.min(requested === 0 ? minimum * (1 + Math.random()) : Math.max(requested, 0), maxSeconds);
}

async function follow(
  { context, call, endpoint, options, version, as, mute }: WatchRequest,
  sink: Sink,
): Promise<void> {
  const { resource } = endpoint;
  const isUncached =
    resource.strategy.uncachedSemantics ||
    (context.gates.watchFromStore &&
      options.sendInitialEvents === undefined &&
      options.resourceVersion === "");
  const lifeMilliseconds = secondsOf(options, context) * 1000;
  const { promise: over, resolve } = Promise.withResolvers<void>();
  const stop = new AbortController();
  const end = (): void => {
    stop.abort();
    resolve();
  };
  let caughtUp = false;
  let shown = as;
  const sendBookmark = (revision: number, complete?: boolean): void => {
    sink.write(shown.bookmark(revision, complete));
    shown = shown.afterFirst ?? shown;
  };
  const marks =
    options.bookmarks && !isUncached
      ? bookmarks({
          clock: context.clock,
          lifeMilliseconds,
          from: version ?? 0,
          changed: () => (caughtUp ? resource.source.lastChange() : 0),
          send: sendBookmark,
        })
      : undefined;
  const delivered = context.watchEvents?.(endpoint);
  const write = (frames: readonly Frame[]): void => {
    const bytes = bytesOf(frames, shown);
    delivered?.sent(frames.length, bytes.length);
    sink.write(bytes);
  };
  const watcher: FrameSink = {
    deliver: (frames) => {
      if (mute) return end();
      if (shown.afterFirst) {
        write(frames.slice(0, 1));
        shown = shown.afterFirst;
        if (frames.length > 1) write(frames.slice(1));
      } else write(frames);
      marks?.sent(frames.at(-1)!.item.revision);
      if (sink.backlogBytes > maxBacklogBytes) {
        delivered?.terminated();
        end();
      }
    },
    drained: async () => {
      const cancel = context.clock.after(unreadMilliseconds, () => call.watchStarted?.());
      await sink.drained();
      cancel();
    },
    ended: end,
  };
  sink.closed.addEventListener("abort", end, { once: true });
  context.closing.add(end);
  const cancelEnd = context.clock.after(lifeMilliseconds, end);
  if (sink.closed.aborted || context.closing.aborted) end();
  try {
    const below = resource.namespaced && call.target.namespace ? `${call.target.namespace}/` : "";
    const from =
      options.sendInitialEvents === true || version === undefined || version === 0
        ? options.sendInitialEvents === false
          ? "now"
          : "state"
        : version;
    // An uncached kind is watched from the store, not from the cache.
    if (resource.strategy.uncachedSemantics && typeof from === "number" && from < resource.source.revision())
      await resource.store.read({ key: resource.prefix }, from);
    if (isUncached && from === "state") await resource.source.get("", { at: "latest" });
    // The initial state is at least as new as requested, otherwise an error is sent.
    if (options.sendInitialEvents === true && version)
      await resource.source.get("", { at: "notOlderThan", revision: version });
    await resource.source.watch({ below, selector: options.selector, from, signal: stop.signal }, watcher);
    caughtUp = true;
    call.watchStarted?.();
    if (options.sendInitialEvents === true && options.bookmarks)
      sendBookmark(resource.source.revision(), true);
    await over;
  } catch (error) {
    const known =
      error instanceof Compacted
        ? expired(`too old resource version: ${version} (${error.compacted})`)
        : readError(error);
    if (!(error instanceof RevisionTimeout) || options.sendInitialEvents === true)
      sink.write(as.error(statusObject(known)));
  } finally {
    stop.abort();
    context.closing.delete(end);
    cancelEnd();
    marks?.stop();
  }
}
