// The histogram of counts over time, in which dragging selects a range.
import { useEffect, useMemo, useRef } from "preact/hooks";
import uPlot from "uplot";
import type { BucketList } from "../api/wire.ts";
import { useShell } from "../shell/context.ts";
import { fixed } from "../view/range.ts";
import { ticks } from "../view/time.ts";
import { type Palette, tickCount } from "./draw.ts";
import { paletteNow } from "./palette.ts";
import { stackOf } from "./stack.ts";
import { selectByTouch } from "./touch-select.ts";

interface HistogramProps {
  readonly buckets: BucketList;
  readonly from: number;
  readonly to: number;
  readonly width: number;
}

const height = 102;
const axisHeight = 24;
const labelHalf = 20;

export function Histogram({ buckets, from, to, width }: HistogramProps) {
  const { go, theme } = useShell();
  const holder = useRef<HTMLDivElement>(null);
  const plot = useRef<uPlot | undefined>(undefined);
  const stack = useMemo(() => stackOf(buckets), [buckets]);
  const { totals } = stack;
  const ends = useRef({ from, to });
  ends.current = { from, to };
  useEffect(() => {
    const element = holder.current;
    if (!element || width <= 0) return undefined;
    const made = new uPlot(
      optionsFor(width, paletteNow(), ends, (a, b) => go({ range: fixed(a * 1000, b * 1000) })),
      [[], [], [], []],
      element,
    );
    selectByTouch(made);
    plot.current = made;
    return () => {
      made.destroy();
      plot.current = undefined;
    };
  }, [width, theme, go]);
  useEffect(() => {
    plot.current?.setData(
      [[...stack.times], [...stack.warnings], [...stack.normal], [...stack.changes]],
      true,
    );
  }, [stack, from, to, width, theme]);
  const total = totals.normal + totals.warning + totals.change;
  return (
    <div class="histogram">
      <div class="side">
        <div>
          <strong>{total.toLocaleString("en")}</strong>{" "}
          <span class="muted">{total === 1 ? "event or change" : "events and changes"}</span>
        </div>
        <div class="muted more">Drag across the chart to zoom in</div>
      </div>
      <div
        ref={holder}
        role="img"
        aria-label={`${totals.warning} warnings, ${totals.normal} normal events and ${totals.change} changes in this range`}
      />
    </div>
  );
}

function optionsFor(
  width: number,
  palette: Palette,
  ends: { readonly current: { readonly from: number; readonly to: number } },
  select: (from: number, to: number) => void,
): uPlot.Options {
  const bars = uPlot.paths.bars!({ size: [0.86, 24], align: 0 });
  const series = (label: string, fill: string | CanvasPattern): uPlot.Series => ({
    label,
    fill: () => fill,
    stroke: "transparent",
    width: 0,
    paths: bars,
    points: { show: false },
  });
  return {
    width,
    height,
    padding: [10, 0, 0, 0],
    legend: { show: false },
    cursor: { y: false, points: { show: false }, drag: { x: true, y: false, setScale: false } },
    select: { show: true, left: 0, top: 0, width: 0, height: 0 },
    scales: {
      x: { time: true, range: () => [ends.current.from / 1000, ends.current.to / 1000] },
      y: { range: (_plot, _low, high) => [0, Math.max(4, high * 1.05)] },
    },
    axes: [
      {
        size: axisHeight,
        stroke: getComputedStyle(document.documentElement).getPropertyValue("--text-3"),
        font: "11px system-ui, sans-serif",
        grid: { stroke: palette.line, width: 1 },
        ticks: { show: false },
        splits: (plot) =>
          ticks(ends.current.from, ends.current.to, tickCount(plot.width)).map(({ time }) => time / 1000),
        values: (plot) =>
          ticks(ends.current.from, ends.current.to, tickCount(plot.width)).map(({ time, label }) =>
            isCut(plot, time) ? "" : label,
          ),
      },
      { show: false },
    ],
    series: [
      {},
      series("warnings", hatched(palette.warning, palette.surface)),
      series("normal", palette.normal),
      series("changes", palette.change),
    ],
    hooks: {
      setSelect: [
        (plot) => {
          const { left, width: wide } = plot.select;
          if (wide < 3) return;
          const [from, to] = [plot.posToVal(left, "x"), plot.posToVal(left + wide, "x")];
          plot.setSelect({ left: 0, top: 0, width: 0, height: 0 }, false);
          select(from, to);
        },
      ],
    },
  };
}

/** Reports whether half of a label at this time would be beyond the edge. */
function isCut(plot: uPlot, time: number): boolean {
  const x = plot.valToPos(time / 1000, "x");
  return x < labelHalf || x > plot.width - labelHalf;
}

/** Warnings are hatched, to be distinguishable without color. */
function hatched(colour: string, gap: string): string | CanvasPattern {
  const tile = document.createElement("canvas");
  tile.width = tile.height = 6;
  const ctx = tile.getContext("2d");
  if (!ctx) return colour;
  ctx.fillStyle = colour;
  ctx.fillRect(0, 0, 6, 6);
  ctx.strokeStyle = gap;
  ctx.lineWidth = 1.2;
  ctx.beginPath();
  ctx.moveTo(-1, 7);
  ctx.lineTo(7, -1);
  ctx.stroke();
  return ctx.createPattern(tile, "repeat") ?? colour;
}
