// The part of time that is looked at: a span up to now that moves on by itself, or two fixed ends.
import { day, hour, parseSpan, second } from "./time.ts";

export type Range =
  | { readonly live: true; readonly span: number }
  | { readonly live: false; readonly from: number; readonly to: number };

export interface Ends {
  readonly from: number;
  readonly to: number;
}

export const narrowest = second;
export const widest = 30 * day;
export const presets = ["5m", "15m", "1h", "6h", "24h", "7d"] as const;

/** The shortest of the usual spans, an hour at least, that reaches back so far. */
export const presetFor = (milliseconds: number): number =>
  presets.map((preset) => parseSpan(preset)!).find((span) => span >= Math.max(hour, milliseconds)) ?? 7 * day;

export const endsOf = (range: Range, now: number): Ends =>
  range.live ? { from: now - range.span, to: now } : { from: range.from, to: range.to };

const bounded = (span: number): number => Math.min(widest, Math.max(narrowest, span));

/** A fixed range of at least the narrowest width, whichever way round its ends are given. */
export function fixed(a: number, b: number): Range {
  const [from, to] = a <= b ? [a, b] : [b, a];
  const span = bounded(to - from);
  const middle = (from + to) / 2;
  return span === to - from
    ? { live: false, from: Math.round(from), to: Math.round(to) }
    : { live: false, from: Math.round(middle - span / 2), to: Math.round(middle + span / 2) };
}

/** Wider (factor > 1) or narrower around a time. A live range stays live, unless the time is another than now. */
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

/** Earlier (negative) or later by a part of the width; a range that reaches now follows it again. */
export function pan(range: Range, share: number, now: number): Range {
  const { from, to } = endsOf(range, now);
  const span = to - from;
  const moved = to + share * span;
  if (moved >= now) return { live: true, span };
  return { live: false, from: Math.round(moved - span), to: Math.round(moved) };
}

/** What keys do to the range. */
export const rangeKeys: Readonly<Partial<Record<string, (range: Range, now: number) => Range>>> = {
  ArrowLeft: (range, now) => pan(range, -0.25, now),
  ArrowRight: (range, now) => pan(range, 0.25, now),
  "+": (range, now) => zoom(range, 0.5, now),
  "=": (range, now) => zoom(range, 0.5, now),
  "-": (range, now) => zoom(range, 2, now),
};
