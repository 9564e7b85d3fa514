// Draws the marks of visible rows, with one path per kind.
import { type Grid, type Scale, clustersOf, xOf } from "./clusters.ts";
import type { Row } from "./rows.ts";
import { type Tick, ticks } from "../view/time.ts";

export interface Palette {
  readonly normal: string;
  readonly warning: string;
  readonly change: string;
  readonly line: string;
  readonly surface: string;
  readonly selected: string;
}

export interface LanePicture {
  readonly rows: readonly Row[];
  readonly rowHeight: number;
  readonly scrollTop: number;
  readonly height: number;
  readonly scale: Scale;
  readonly grid: Grid;
  readonly palette: Palette;
  readonly selected: string | undefined;
  readonly hovered: number | undefined;
}

/** Marks closer than this on the screen, in pixels, are drawn as one. */
export const nearestMarks = 9;

export function drawLanes(ctx: CanvasRenderingContext2D, picture: LanePicture): void {
  const { rows, rowHeight, scrollTop, height, scale, palette } = picture;
  const first = Math.max(0, Math.floor(scrollTop / rowHeight));
  const last = Math.min(rows.length, Math.ceil((scrollTop + height) / rowHeight));
  ctx.fillStyle = palette.surface;
  ctx.fillRect(0, 0, scale.width, height);
  for (let at = first; at < last; at++) {
    const isSelected = rows[at]!.id === picture.selected;
    if (!isSelected && at !== picture.hovered) continue;
    ctx.fillStyle = palette.selected;
    ctx.fillRect(0, at * rowHeight - scrollTop, scale.width, rowHeight);
  }
  drawGrid(ctx, ticks(scale.from, scale.to, tickCount(scale.width)), picture);
  const [bars, triangles, rings] = [new Path2D(), new Path2D(), new Path2D()];
  for (let at = first; at < last; at++) {
    const marks = rows[at]!.lane?.marks;
    if (!marks) continue;
    const middle = at * rowHeight - scrollTop + rowHeight / 2;
    for (const { x, normal, warnings, changes } of clustersOf(marks, picture.grid, scale, nearestMarks)) {
      if (normal > 0) bar(bars, x, middle, sizeOf(normal));
      if (changes > 0) ring(rings, x, middle);
      if (warnings > 0) triangle(triangles, x, middle, sizeOf(warnings));
    }
  }
  ctx.fillStyle = palette.normal;
  ctx.fill(bars);
  ctx.strokeStyle = palette.change;
  ctx.lineWidth = 1.75;
  ctx.stroke(rings);
  // An outline separates triangles from what is behind them.
  ctx.strokeStyle = palette.surface;
  ctx.lineWidth = 2;
  ctx.stroke(triangles);
  ctx.fillStyle = palette.warning;
  ctx.fill(triangles);
}

export const tickCount = (width: number): number => Math.max(2, Math.floor(width / 110));

/** Returns the size of a mark, between 0 and 1, on a logarithmic scale. */
export const sizeOf = (count: number): number => Math.min(1, Math.log2(1 + count) / 8);

function drawGrid(
  ctx: CanvasRenderingContext2D,
  marks: readonly Tick[],
  { scale, height, palette }: LanePicture,
) {
  ctx.fillStyle = palette.line;
  ctx.fillRect(0, 0, 1, height);
  for (const { time } of marks) ctx.fillRect(Math.round(xOf(scale, time)), 0, 1, height);
}

function bar(path: Path2D, x: number, middle: number, size: number): void {
  const tall = 8 + 12 * size;
  path.roundRect(Math.round(x - 2.5), Math.round(middle - tall / 2), 5, Math.round(tall), 1.5);
}

function triangle(path: Path2D, x: number, middle: number, size: number): void {
  const half = 5 + 3 * size;
  path.moveTo(x, middle - half);
  path.lineTo(x + half, middle + half * 0.8);
  path.lineTo(x - half, middle + half * 0.8);
  path.closePath();
}

function ring(path: Path2D, x: number, middle: number): void {
  path.moveTo(x + 4, middle);
  path.arc(x, middle, 4, 0, 2 * Math.PI);
}
