// Loads the data of the timeline and refreshes it while it is live: lanes and buckets at first, and again
// soon after the watch reports an event. The delay grows with the duration of requests.
import type { CallError, Client } from "../api/client.ts";
import type { BucketList, LaneList, Missing, TimelineFrame, TimelineLane } from "../api/wire.ts";
import { type TimelineRequest, rangeParameters } from "./request.ts";

export interface TimelineData {
  readonly lanes: readonly TimelineLane[];
  /** The total number of matching lanes, which may exceed those loaded. */
  readonly total: number;
  readonly start: number;
  readonly end: number;
  /** The interval of the lanes' marks in milliseconds. */
  readonly interval: number;
  readonly buckets: BucketList;
  readonly missing: Missing;
}

export interface TimelineState {
  readonly data: TimelineData | undefined;
  readonly loading: boolean;
  readonly error: CallError | undefined;
  /** Whether the watch is running. */
  readonly following: boolean;
}

export interface LoaderOptions {
  readonly client: Client;
  readonly onChange: (state: TimelineState) => void;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
  readonly sleep: (milliseconds: number, signal: AbortSignal) => Promise<void>;
}

export interface Loader {
  show(request: TimelineRequest): void;
  stop(): void;
}

const lanePoints = 400;
const bucketPoints = 120;
const firstPage = 200;
const pageSize = 5000;
export const maxLanes = 20_000;
const quietMilliseconds = 1000;
const retryMilliseconds = 3000;

const sameFilter = (a: TimelineRequest["filter"], b: TimelineRequest["filter"]): boolean =>
  JSON.stringify(a) === JSON.stringify(b);

export function timelineLoader({ client, onChange, now, sleep }: LoaderOptions): Loader {
  let state: TimelineState = { data: undefined, loading: false, error: undefined, following: false };
  let running: AbortController | undefined;
  let current: TimelineRequest | undefined;
  const change = (more: Partial<TimelineState>): void => onChange((state = { ...state, ...more }));

  async function load(request: TimelineRequest, signal: AbortSignal): Promise<string> {
    const query = { ...request.filter, ...rangeParameters(request.range) };
    const lanesPath = `${request.base}/lanes`;
    const page = (limit: number, token?: string): Promise<LaneList> =>
      client.json<LaneList>(lanesPath, { ...query, points: lanePoints, limit, continue: token }, signal);
    const [first, buckets] = await Promise.all([
      page(firstPage),
      client.json<BucketList>(`${request.base}/buckets`, { ...query, points: bucketPoints }, signal),
    ]);
    let lanes = first.items;
    const shown = (): void =>
      change({
        data: {
          lanes,
          total: first.total,
          start: Date.parse(first.start),
          end: Date.parse(first.end),
          interval: (first.intervalSeconds ?? 1) * 1000,
          buckets,
          missing: first.missing,
        },
        loading: false,
        error: undefined,
      });
    if (first.metadata.continue === undefined || state.data === undefined) shown();
    let next = first.metadata.continue;
    while (next !== undefined && lanes.length < maxLanes) {
      const more: LaneList = await page(Math.min(pageSize, maxLanes - lanes.length), next);
      lanes = [...lanes, ...more.items];
      next = more.metadata.continue;
    }
    if (first.metadata.continue !== undefined) shown();
    return first.metadata.cursor;
  }

  /** Resolves after the next frame with an entry, or when the watch ends. */
  async function nextFrame(request: TimelineRequest, cursor: string, signal: AbortSignal): Promise<void> {
    const watching = new AbortController();
    const end = (): void => watching.abort();
    signal.addEventListener("abort", end, { once: true });
    try {
      for await (const line of client.lines(
        `${request.base}/timelines`,
        { ...request.filter, watch: true, cursor },
        watching.signal,
      )) {
        if (line === "") continue;
        if ((JSON.parse(line) as TimelineFrame).type !== "BOOKMARK") return;
      }
    } finally {
      signal.removeEventListener("abort", end);
      watching.abort();
    }
  }

  async function follow(request: TimelineRequest, signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      try {
        const began = now();
        const cursor = await load(request, signal);
        if (!request.range.live) return;
        const quiet = Math.max(quietMilliseconds, 10 * (now() - began));
        change({ following: true });
        await Promise.all([nextFrame(request, cursor, signal), sleep(quiet, signal)]);
      } catch (error) {
        if (signal.aborted) return;
        change({ loading: false, following: false, error: error as CallError });
        if (!request.range.live || (error as CallError).status === 403) return;
        await sleep(retryMilliseconds, signal).catch(() => undefined);
      }
    }
  }

  const show = (request: TimelineRequest): void => {
    running?.abort();
    const own = (running = new AbortController());
    // A new range keeps the current data until the response arrives; a new query does not.
    const isSame = current?.base === request.base && sameFilter(current.filter, request.filter);
    current = request;
    change({ loading: true, following: false, ...(!isSame && { data: undefined, error: undefined }) });
    void follow(request, own.signal);
  };
  return {
    show,
    stop: () => running?.abort(),
  };
}
