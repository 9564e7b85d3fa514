// The timeline page: histogram, lanes, and the details of the selected object.
import { useCallback, useEffect, useMemo, useRef, useState } from "preact/hooks";
import type { CallError } from "../api/client.ts";
import { Detail } from "../detail/detail.tsx";
import { parseQuery, toggleWarnings } from "../search/parse.ts";
import { titleOf } from "../search/title.ts";
import { useShell } from "../shell/context.ts";
import { Mark } from "../shell/marks.tsx";
import { Empty, Failure, Loading } from "../shell/states.tsx";
import { visibleLine } from "../text/visible.ts";
import { endsOf, rangeKeys, zoom } from "../view/range.ts";
import { selectedOf } from "../view/route.ts";
import { Histogram } from "./histogram.tsx";
import { Lanes } from "./lanes.tsx";
import { Missing } from "./missing.tsx";
import { requestFor } from "./request.ts";
import { type Row, idOf, matching, rowsOf } from "./rows.ts";
import { useNow } from "./use-now.ts";
import { type ChangeRange, useRange } from "./use-range.ts";
import { useTimeline } from "./use-timeline.ts";
import { useWheel } from "./use-wheel.ts";
import { useWidth } from "./use-width.ts";

const edgeShare = 0.012;

export function TimelinePage() {
  const { view, go, timeline, now } = useShell();
  const request = useMemo(
    () => requestFor(timeline, view.search, view.range),
    [timeline, view.search, view.range],
  );
  const { data, loading, error, following } = useTimeline(request);
  const [closed, setClosed] = useState<ReadonlySet<string>>(new Set());
  const lanes = useMemo(() => matching(data?.lanes ?? [], request.words), [data, request.words]);
  const rows = useMemo(() => rowsOf(lanes, closed), [lanes, closed]);
  const holder = useRef<HTMLDivElement>(null);
  const width = useWidth(holder);
  // Use the server's clock: the end of a live range was its current time when it responded.
  const skew = useRef(0);
  const lastData = useRef(data);
  if (data !== lastData.current && data && view.range.live) skew.current = data.end - now();
  lastData.current = data;
  const time = useNow(view.range.live && following);
  const ends = endsOf(view.range, time + skew.current);
  const { from } = ends;
  // Leave a margin so that current marks are not cut off at the edge.
  const to = view.range.live ? ends.to + (ends.to - from) * edgeShare : ends.to;

  const onFold = useCallback(
    (id: string) => setClosed((before) => (before.has(id) ? without(before, id) : new Set([...before, id]))),
    [],
  );
  const onSelect = useCallback(
    ({ object }: Row) => go({ selected: selectedOf(object), tab: "events" }),
    [go],
  );
  const changeRange = useRange();
  useEffect(() => {
    const key = (event: KeyboardEvent): void => {
      const typing =
        event.target instanceof HTMLElement && /^(INPUT|TEXTAREA|SELECT)$/.test(event.target.tagName);
      if (typing || event.ctrlKey || event.metaKey || event.altKey) return;
      if (event.key === "Escape" && view.selected) go({ selected: undefined });
      if (event.key === "l") go({ range: { live: true, span: ends.to - from } });
      // The lanes handle these keys, too; this handler is for when the lanes do not have the focus.
      const move = event.target === document.body ? rangeKeys[event.key] : undefined;
      if (move) changeRange((range) => move(range, now()));
    };
    addEventListener("keydown", key);
    return () => removeEventListener("keydown", key);
  }, [go, view.selected, from, ends.to]);

  // After the details are closed by keyboard, the focus returns to the lanes.
  const wasOpen = useRef(false);
  useEffect(() => {
    if (wasOpen.current && !view.selected && document.activeElement === document.body)
      holder.current?.querySelector<HTMLElement>('[role="tree"]')?.focus();
    wasOpen.current = view.selected !== undefined;
  }, [view.selected]);

  const shown = data && rows.length > 0;
  return (
    <div class={view.selected ? "with-detail" : ""} style={{ height: "100%" }}>
      <section class="timeline" aria-label="Timeline" ref={holder} aria-busy={loading}>
        <Toolbar
          objects={lanes.length}
          total={data?.total ?? 0}
          following={following}
          error={data && error}
        />
        {data ? <Histogram buckets={data.buckets} from={from} to={to} width={width} /> : <div />}
        {shown ? (
          <Lanes
            rows={rows}
            data={data}
            from={from}
            to={to}
            width={width}
            onFold={onFold}
            onSelect={onSelect}
            changeRange={changeRange}
          />
        ) : error && !data ? (
          <Failure error={error} what="The timeline" />
        ) : data ? (
          <NoLanes middle={(from + to) / 2} width={width} changeRange={changeRange} />
        ) : (
          <Loading what="the timeline" />
        )}
        {data && <Missing missing={data.missing} unused={request.unused} />}
      </section>
      {view.selected && <Detail key={idOf(view.selected)} selected={view.selected} />}
    </div>
  );
}

interface NoLanesProps {
  /** Of the range. */
  readonly middle: number;
  readonly width: number;
  readonly changeRange: ChangeRange;
}

/** Shown if there are no lanes; the wheel still changes the range. */
function NoLanes({ middle, width, changeRange }: NoLanesProps) {
  const holder = useRef<HTMLDivElement>(null);
  useWheel(holder, { timeAt: () => middle, width, changeRange });
  return (
    <div class="no-lanes" ref={holder}>
      <Empty title="No events in this range">
        No events or changes match. Choose a longer range or another search.
      </Empty>
    </div>
  );
}

interface ToolbarProps {
  readonly objects: number;
  readonly total: number;
  readonly following: boolean;
  readonly error: CallError | undefined;
}

function Toolbar({ objects, total, following, error }: ToolbarProps) {
  const { view, go, now } = useShell();
  const isNarrowed = parseQuery(view.search).types.length > 0;
  const zoomBy = (factor: number) => (): void => go({ range: zoom(view.range, factor, now()) });
  return (
    <div class="toolbar">
      <h2>{visibleLine(titleOf(parseQuery(view.search)))}</h2>
      <span class="summary" role="status">
        {objects === 1 ? "1 object" : `${objects.toLocaleString("en")} objects`}
        {total > objects && ` of ${total.toLocaleString("en")}`}
        {view.range.live && (following ? ", live" : ", connecting…")}
      </span>
      {error && <span class="badge warning">{visibleLine(error.message)}</span>}
      <span class="spacer" />
      <button
        class="button small"
        aria-pressed={isNarrowed}
        onClick={() => go({ search: toggleWarnings(view.search) })}
      >
        Warnings only
      </button>
      <span class="ranges" role="group" aria-label="Zoom">
        <button class="button" aria-label="Zoom out" title="Zoom out (-)" onClick={zoomBy(2)}>
          −
        </button>
        <button class="button" aria-label="Zoom in" title="Zoom in (+)" onClick={zoomBy(0.5)}>
          +
        </button>
      </span>
      <span class="legend">
        <span>
          <Mark kind="normal" /> event
        </span>
        <span>
          <Mark kind="warning" /> warning
        </span>
        <span>
          <Mark kind="change" /> change
        </span>
      </span>
    </div>
  );
}

function without(set: ReadonlySet<string>, id: string): ReadonlySet<string> {
  const rest = new Set(set);
  rest.delete(id);
  return rest;
}
