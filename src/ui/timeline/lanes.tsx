// The lanes: names are elements accessible by keyboard and screen reader, marks are drawn on one canvas. Only
// visible rows are rendered, however many objects there are.
import { useCallback, useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
import { useShell } from "../shell/context.ts";
import { type Range, pan, rangeKeys } from "../view/range.ts";
import { type Cluster, clusterAt, clustersOf, timeAt } from "./clusters.ts";
import { drawLanes, nearestMarks } from "./draw.ts";
import { LaneName } from "./lane-name.tsx";
import type { TimelineData } from "./loader.ts";
import { paletteNow } from "./palette.ts";
import type { Row } from "./rows.ts";
import type { ChangeRange } from "./use-range.ts";
import { useWheel } from "./use-wheel.ts";
import { MarkTip, type Tip } from "./mark-tip.tsx";

interface LanesProps {
  readonly rows: readonly Row[];
  readonly data: TimelineData;
  readonly from: number;
  readonly to: number;
  /** Of the part with the marks. */
  readonly width: number;
  readonly onFold: (id: string) => void;
  readonly onSelect: (row: Row) => void;
  readonly changeRange: ChangeRange;
}

export const rowHeight = 28;
const margin = 8;
const step = 4;

export function Lanes({ rows, data, from, to, width, onFold, onSelect, changeRange }: LanesProps) {
  const { view, theme, now } = useShell();
  const holder = useRef<HTMLDivElement>(null);
  const canvas = useRef<HTMLCanvasElement>(null);
  const [height, setHeight] = useState(0);
  const [firstRow, setFirstRow] = useState(0);
  const [marked, setMarked] = useState({ id: "", at: 0 });
  const active = useMemo(() => placeIn(rows, marked), [rows, marked]);
  const [tip, setTip] = useState<Tip | undefined>(undefined);
  const hovered = useRef<number | undefined>(undefined);
  const drag = useRef<{ x: number; range: Range; moved: boolean } | undefined>(undefined);
  const selected = view.selected?.uid;
  const scale = { from, to, width };
  const grid = { start: data.start, interval: data.interval };

  const palette = useMemo(paletteNow, [theme]);
  const draw = useCallback(() => {
    const ctx = canvas.current?.getContext("2d");
    if (!ctx || !holder.current) return;
    const ratio = devicePixelRatio || 1;
    ctx.setTransform(ratio, 0, 0, ratio, 0, 0);
    const { scrollTop } = holder.current;
    drawLanes(ctx, {
      rows,
      rowHeight,
      scrollTop,
      height,
      scale,
      grid,
      palette,
      selected,
      hovered: hovered.current,
    });
  }, [rows, height, from, to, width, data, palette, selected]);

  useLayoutEffect(() => {
    const element = holder.current!;
    const observer = new ResizeObserver(() => setHeight(element.clientHeight));
    observer.observe(element);
    return () => observer.disconnect();
  }, []);
  useLayoutEffect(() => {
    const element = canvas.current;
    if (!element) return;
    const ratio = devicePixelRatio || 1;
    element.width = Math.max(1, Math.round(width * ratio));
    element.height = Math.max(1, Math.round(height * ratio));
    element.style.width = `${width}px`;
    element.style.height = `${height}px`;
  }, [width, height]);
  useLayoutEffect(draw, [draw]);

  const frame = useRef(0);
  const onScroll = (): void => {
    cancelAnimationFrame(frame.current);
    frame.current = requestAnimationFrame(() => {
      // In steps, so that short scrolling only moves existing elements.
      setFirstRow(Math.floor(holder.current!.scrollTop / rowHeight / step) * step);
      setTip(undefined);
      draw();
    });
  };

  const rowAt = (event: MouseEvent): number => {
    const box = holder.current!.getBoundingClientRect();
    return Math.floor((event.clientY - box.top + holder.current!.scrollTop) / rowHeight);
  };
  const xAt = (event: MouseEvent): number => event.clientX - canvas.current!.getBoundingClientRect().left;
  const clusterUnder = (event: MouseEvent): { row: Row; cluster: Cluster } | undefined => {
    const row = rows[rowAt(event)];
    const marks = row?.lane?.marks;
    const cluster = marks && clusterAt(clustersOf(marks, grid, scale, nearestMarks), xAt(event), 8);
    return row && cluster ? { row, cluster } : undefined;
  };
  const onMove = (event: MouseEvent): void => {
    if (drag.current) {
      const moved = event.clientX - drag.current.x;
      if (Math.abs(moved) > 3) drag.current.moved = true;
      if (drag.current.moved) {
        const { range } = drag.current;
        changeRange(() => pan(range, -moved / width, now()));
      }
      return;
    }
    hovered.current = rowAt(event);
    const found = clusterUnder(event);
    setTip(found && { ...found, x: event.clientX, y: event.clientY });
    draw();
  };
  const onUp = (event: MouseEvent): void => {
    const wasDrag = drag.current?.moved ?? false;
    drag.current = undefined;
    if (wasDrag) return;
    const row = rows[rowAt(event)];
    if (row) onSelect(row);
  };

  useWheel(holder, { timeAt: (event) => timeAt(scale, xAt(event)), width, changeRange });

  const show = (at: number): void => {
    const element = holder.current!;
    const top = at * rowHeight;
    if (top < element.scrollTop) element.scrollTop = top;
    else if (top + rowHeight > element.scrollTop + height) element.scrollTop = top + rowHeight - height;
    setMarked({ id: rows[at]?.id ?? "", at });
  };
  const onKey = (event: KeyboardEvent): void => {
    const row = rows[active];
    const page = Math.max(1, Math.floor(height / rowHeight) - 1);
    const to_ = (at: number): void => show(Math.max(0, Math.min(rows.length - 1, at)));
    const actions: Readonly<Record<string, () => void>> = {
      ArrowDown: () => to_(active + 1),
      ArrowUp: () => to_(active - 1),
      PageDown: () => to_(active + page),
      PageUp: () => to_(active - page),
      Home: () => to_(0),
      End: () => to_(rows.length - 1),
      Enter: () => row && onSelect(row),
      " ": () => row && row.children > 0 && onFold(row.id),
    };
    const move = rangeKeys[event.key];
    const action = move ? () => changeRange((range) => move(range, now())) : actions[event.key];
    if (!action || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    action();
  };

  const last = Math.min(rows.length, firstRow + Math.ceil(height / rowHeight) + margin);
  const first = Math.max(0, firstRow - margin);
  const slots = Math.ceil(height / rowHeight) + 2 * margin + 1;
  return (
    <div
      class="lanes"
      ref={holder}
      tabIndex={0}
      role="tree"
      aria-label="Objects with their events. Arrow keys move, plus and minus zoom, Enter opens."
      aria-activedescendant={rows[active] ? `lane-${active}` : undefined}
      onScroll={onScroll}
      onKeyDown={onKey}
    >
      <div class="canvas-holder">
        <canvas
          ref={canvas}
          aria-hidden="true"
          onPointerDown={(event) => {
            event.currentTarget.setPointerCapture(event.pointerId);
            drag.current = { x: event.clientX, range: view.range, moved: false };
          }}
          onPointerMove={onMove}
          onPointerUp={onUp}
          // The browser has taken over the touch for scrolling.
          onPointerCancel={() => (drag.current = undefined)}
          onPointerLeave={() => {
            hovered.current = undefined;
            setTip(undefined);
            draw();
          }}
        />
      </div>
      <div class="content" style={{ height: `${rows.length * rowHeight}px` }}>
        {rows.slice(first, last).map((row, offset) => (
          <LaneName
            // Elements that scroll out on one side are reused on the other.
            key={(first + offset) % slots}
            row={row}
            at={first + offset}
            top={(first + offset) * rowHeight}
            isActive={first + offset === active}
            isSelected={row.id === selected}
            onFold={onFold}
            onSelect={(chosen) => {
              setMarked({ id: chosen.id, at: first + offset });
              onSelect(chosen);
            }}
          />
        ))}
      </div>
      {tip && <MarkTip {...tip} />}
    </div>
  );
}

/** Returns the current position of a row, which changes when rows are added above it. */
function placeIn(rows: readonly Row[], { id, at }: { readonly id: string; readonly at: number }): number {
  const found = rows[at]?.id === id ? at : rows.findIndex((row) => row.id === id);
  return found >= 0 ? found : Math.max(0, Math.min(at, rows.length - 1));
}
