// Lists the Events of one object after a start that found many Events in the store, in both groups. The
// first list of a client would otherwise wait while V8 compiles the code of such lists.
import { type Dialect, groupName } from "#dialect";
import { type Call, type Reply, inject } from "#http";
import type { Resource } from "#registry";

export interface EventListsOptions {
  readonly dialect: Dialect;
  readonly events: Pick<Resource, "hub" | "source">;
  /** Resolves once the caches are loaded. */
  readonly loaded: () => Promise<void>;
  readonly handle: (call: Call) => Promise<Reply>;
  readonly signal: AbortSignal;
}

interface List {
  readonly items: readonly { readonly [field: string]: { readonly uid?: string } | undefined }[];
}

/** Resolves when the lists are done, or the signal aborts. What fails here fails for the clients that request it. */
export async function listEventsInAdvance(options: EventListsOptions): Promise<void> {
  const { signal } = options;
  const stopped = new Promise<void>((resolve) =>
    signal.addEventListener("abort", () => resolve(), { once: true }),
  );
  await Promise.race([stopped, listBoth(options).catch(() => undefined)]);
}

async function listBoth(options: EventListsOptions): Promise<void> {
  const { dialect, events, loaded, signal } = options;
  await loaded();
  const indexed = events.source.indexed?.();
  if (!indexed) return;
  await indexed;
  const group = groupName(dialect, events.hub.kind);
  for (const [path, subject] of [
    [`/apis/${group}/v1/events`, "regarding"],
    ["/api/v1/events", "involvedObject"],
  ] as const)
    if (!signal.aborted) await listOfOne(options, path, subject);
}

async function listOfOne(
  { handle, signal }: EventListsOptions,
  path: string,
  subject: string,
): Promise<void> {
  const list = async (query: string): Promise<List> =>
    (await (await inject(handle, { path: `${path}?${query}`, signal })).json()) as List;
  const uid = (await list("limit=1")).items[0]?.[subject]?.uid;
  if (uid && !signal.aborted) await list(`fieldSelector=${subject}.uid=${encodeURIComponent(uid)}`);
}
