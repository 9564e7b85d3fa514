// The time range of a view: a span up to now that moves with time, or two fixed ends.
import { day, hour, parseSpan, second } from "./time.ts";

export type Range =
  | { readonly live: true; readonly span: number }
  | { readonly live: false; readonly from: number; readonly to: number };

export interface Ends {
  readonly from: number;
  readonly to: number;
}

export const minSpan = second;
export const maxSpan = 30 * day;
export const presets = ["5m", "15m", "1h", "6h", "24h", "7d"] as const;

/** Returns the shortest preset of at least an hour that covers this duration. */
export const presetFor = (milliseconds: number): number =>
  presets.map((preset) => parseSpan(preset)!).find((span) => span >= Math.max(hour, milliseconds)) ?? 7 * day;

export const endsOf = (range: Range, now: number): Ends =>
  range.live ? { from: now - range.span, to: now } : { from: range.from, to: range.to };

const bounded = (span: number): number => Math.min(maxSpan, Math.max(minSpan, span));

/** Returns a fixed range of at least the minimum width; the ends may be given in either order. */
export function fixed(a: number, b: number): Range {
  const [from, to] = a <= b ? [a, b] : [b, a];
  const span = bounded(to - from);
  const middle = (from + to) / 2;
  return span === to - from
    ? { live: false, from: Math.round(from), to: Math.round(to) }
    : { live: false, from: Math.round(middle - span / 2), to: Math.round(middle + span / 2) };
}

/** Widens (factor > 1) or narrows the range around a time. A live range stays live if no time is given. */
export function zoom(range: Range, factor: number, now: number, around?: number): Range {
  if (range.live && (around === undefined || range.span * (1 - factor) === 0))
    return { live: true, span: bounded(range.span * factor) };
  const { from, to } = endsOf(range, now);
  const span = bounded((to - from) * factor);
  const fixedPoint = around ?? (from + to) / 2;
  const share = to === from ? 0.5 : (fixedPoint - from) / (to - from);
  const start = fixedPoint - share * span;
  return { live: false, from: Math.round(start), to: Math.round(start + span) };
}

/**
 * Moves the range to earlier (negative) or later times by a share of its width; a range that reaches the
 * present becomes live.
 */
export function pan(range: Range, share: number, now: number): Range {
  const { from, to } = endsOf(range, now);
  const span = to - from;
  const moved = to + share * span;
  if (moved >= now) return { live: true, span };
  return { live: false, from: Math.round(moved - span), to: Math.round(moved) };
}

/** Keyboard shortcuts for the range. */
export const rangeKeys: Readonly<Partial<Record<string, (range: Range, now: number) => Range>>> = {
  ArrowLeft: (range, now) => pan(range, -0.25, now),
  ArrowRight: (range, now) => pan(range, 0.25, now),
  "+": (range, now) => zoom(range, 0.5, now),
  "=": (range, now) => zoom(range, 0.5, now),
  "-": (range, now) => zoom(range, 2, now),
};
