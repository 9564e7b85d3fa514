// Exports events without loss: all existing ones, then every change. The cursor is written only after
// delivery, so that a restarted export continues after it.
import type { Event } from "#api";
import { ApiError, type Clock } from "#base";
import { type ResourceClient, isExpired } from "#client";
import type { ExportCursor, ExportPosition } from "./export-cursor.ts";

export type ExportedLine =
  | { readonly type: "ADDED" | "MODIFIED"; readonly object: Event }
  /** Events between these revisions may be missing. */
  | { readonly type: "GAP"; readonly from: string; readonly to: string };

/** The destination of exported lines. */
export interface ExportTarget {
  write(line: ExportedLine): void;
  /** Delivers everything written; resolves with the length of the file afterwards, if there is one. */
  flush(): Promise<number>;
  /** Removes everything written after this position. */
  rewind(bytes: number): Promise<void>;
  close(): Promise<void>;
}

export interface ExportOptions {
  readonly events: Pick<ResourceClient<Event>, "pages" | "watch">;
  readonly namespace: string;
  readonly cursor: ExportCursor;
  readonly target: ExportTarget;
  readonly follow: boolean;
  readonly clock: Clock;
  readonly signal: AbortSignal;
  /** Called with messages for the operator. */
  readonly warn: (message: string) => void;
}

/** Number of lines, or the time, after which the target is flushed and the cursor advances. */
const maxLines = 1000;
const maxDelayMilliseconds = 1000;
const retryMilliseconds = 1000;

/** Position of the lines that were handed to the target. */
interface Progress {
  at: string;
  /** A list that was interrupted. */
  list: ExportPosition["list"];
}

/** Resolves when all existing events are exported or, when following, when the signal aborts. */
export async function exportEvents(options: ExportOptions): Promise<void> {
  const { cursor, target, follow, clock, signal, warn } = options;
  const position = cursor.read();
  // A file with lines from elsewhere keeps them.
  if (position) await target.rewind(position.bytes);
  else cursor.write({ resourceVersion: "", bytes: await target.flush() });
  const progress: Progress = { at: position?.resourceVersion ?? "", list: position?.list };
  let lists = progress.at === "" || progress.list !== undefined || !follow;
  while (!signal.aborted) {
    try {
      if (lists) await exportList(options, progress);
      lists = false;
      if (!follow) return;
      await exportChanges(options, progress);
    } catch (error) {
      if (signal.aborted) break;
      if (lists && (!follow || isPermanent(error))) throw error;
      if (isExpired(error)) {
        warn(
          `revision ${progress.at} has expired: events that were created and deleted since are not exported`,
        );
        lists = true;
      } else {
        warn(`the export was interrupted and will be retried: ${(error as Error).message}`);
        await clock.sleep(retryMilliseconds, signal).catch(() => undefined);
      }
    }
  }
}

/** Reports whether the error is permanent: a retry would fail the same way. */
const isPermanent = (error: unknown): boolean =>
  error instanceof ApiError && error.code >= 400 && error.code < 500 && ![408, 410, 429].includes(error.code);

/** Exports the existing events that are newer than the position; an interrupted list is continued. */
async function exportList(options: ExportOptions, progress: Progress): Promise<void> {
  try {
    await exportPages(options, progress);
  } catch (error) {
    if (!progress.list || !isExpired(error)) throw error;
    // The listed revision has expired: discard its pages and list again.
    await options.target.rewind(progress.list.begin);
    progress.list = undefined;
    await exportPages(options, progress);
  }
}

async function exportPages(options: ExportOptions, progress: Progress): Promise<void> {
  const { events, namespace, target, signal, follow, cursor } = options;
  const after = progress.at;
  let length = await target.flush();
  const begin = progress.list?.begin ?? length;
  let reportsGap = !progress.list && after !== "" && follow;
  let revision = after;
  const parameters = {
    ...(namespace !== "" && { namespace }),
    ...(progress.list && { continue: progress.list.continue }),
  };
  try {
    for await (const page of events.pages(parameters)) {
      signal.throwIfAborted();
      if (reportsGap) target.write({ type: "GAP", from: after, to: page.resourceVersion });
      reportsGap = false;
      revision = page.resourceVersion;
      for (const object of page.items)
        if (after === "" || Number(object.metadata.resourceVersion) > Number(after))
          target.write({ type: "ADDED", object });
      length = await target.flush();
      progress.list = page.continue ? { continue: page.continue, begin } : undefined;
      if (progress.list) cursor.write({ resourceVersion: after, bytes: length, list: progress.list });
    }
  } catch (error) {
    // A page that could not be delivered is listed again.
    await target.rewind(length);
    throw error;
  }
  progress.at = revision;
  await commit(options, revision);
}

/** Follows changes until the server ends the watch. */
async function exportChanges(options: ExportOptions, progress: Progress): Promise<void> {
  const { events, namespace, target, signal, clock } = options;
  // Deliver lines left over from an earlier failure first.
  await commit(options, progress.at);
  let lines = 0;
  let committing: Promise<void> | undefined;
  let failure: Error | undefined;
  let cancel: (() => void) | undefined;
  const startCommit = (): void => {
    cancel?.();
    cancel = undefined;
    lines = 0;
    const revision = progress.at;
    committing = (committing ?? Promise.resolve())
      .then(() => commit(options, revision))
      .catch((error: Error) => void (failure ??= error));
  };
  try {
    const parameters = namespace === "" ? {} : { namespace };
    for await (const { type, object } of events.watch({
      resourceVersion: progress.at,
      signal,
      ...parameters,
    })) {
      if (type === "ERROR")
        throw new ApiError(object.code ?? 500, object.reason ?? "", object.message ?? "the watch failed");
      // The expiry of an event is not exported.
      if (type === "ADDED" || type === "MODIFIED") target.write({ type, object });
      progress.at = object.metadata.resourceVersion ?? progress.at;
      if (++lines >= maxLines) {
        startCommit();
        // Bounds the number of undelivered lines.
        await committing;
      } else cancel ??= clock.after(maxDelayMilliseconds, startCommit);
      if (failure) break;
    }
  } finally {
    if (cancel) startCommit();
    await committing;
  }
  if (failure) throw failure;
}

async function commit({ target, cursor }: ExportOptions, resourceVersion: string): Promise<void> {
  cursor.write({ resourceVersion, bytes: await target.flush() });
}
