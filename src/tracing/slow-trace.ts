// The log line of a slow operation, which shows where its time was spent.
//
//   Trace[17]: Create url:/api/v1/namespaces/a/pods,verb:create (16-Nov-2026 05:00:00.000) (total time: 812ms):
//     ---limitedReadBody succeeded len:512 700ms (05:00:00.700) [812ms] END
//
// (on one line). As in kube-apiserver, an event is shown if it took more than its share of the threshold.
import { type Attributes, Span, type SpanEvent } from "./span.ts";

export interface SlowTraceOptions {
  /** Shows events and nested spans regardless of their duration. */
  readonly all: boolean;
  readonly number?: number;
}

/**
 * Returns the line of an ended span that reached its threshold, or else those of its nested spans that did.
 */
export function slowTraces(span: Span, options: SlowTraceOptions): string[] {
  if (isSlow(span)) return [line(span, options)];
  return span.items.flatMap((item) => (item instanceof Span ? slowTraces(item, options) : []));
}

const isSlow = (span: Span): boolean =>
  span.milliseconds >= (span.slowMilliseconds ?? Number.POSITIVE_INFINITY);

function line(span: Span, options: SlowTraceOptions): string {
  const number = options.number ?? Math.floor(Math.random() * 2 ** 31);
  const total = Math.floor(span.milliseconds);
  return [
    `Trace[${number}]: ${span.name}${fields(span.attributes)} (${dateOf(span.began)})`,
    `(total time: ${total}ms):`,
    ...steps(span, options),
    `[${total}ms] END`,
  ].join(" ");
}

function steps(span: Span, options: SlowTraceOptions): string[] {
  const share = shareOf(span);
  let before = span.began;
  return span.items.flatMap((item) => {
    const started = before;
    before = item instanceof Span ? item.ended || item.began : item.at;
    if (item instanceof Span) return nested(item, options);
    const took = item.at - started;
    return took >= share || options.all ? [`---${step(item, took)}`] : [];
  });
}

function nested(span: Span, options: SlowTraceOptions): string[] {
  if (!isSlow(span) && !options.all)
    return span.items.flatMap((item) => (item instanceof Span ? nested(item, options) : []));
  const head = `${span.name}${fields(span.attributes)} ${Math.floor(span.milliseconds)}ms (${timeOf(span.began)})`;
  return [`[${[head, ...steps(span, options)].join(" ")}]`];
}

/**
 * Returns the duration from which a step is shown: its share of the threshold, without the thresholds of
 * nested spans.
 */
function shareOf({ items, slowMilliseconds: threshold = 0 }: Span): number {
  const inside = items.flatMap((item) =>
    item instanceof Span && item.slowMilliseconds !== undefined ? [item.slowMilliseconds] : [],
  );
  const left = inside.reduce((rest, each) => rest - each, threshold);
  return left < threshold / 4
    ? threshold / 4 / (items.length + 1)
    : left / (items.length + 1 - inside.length);
}

const step = ({ name, at, attributes }: SpanEvent, took: number): string =>
  `${name}${fields(attributes ?? {})} ${Math.floor(took)}ms (${timeOf(at)})`;

function fields(attributes: Attributes): string {
  const list = Object.entries(attributes).map(([key, value]) => `${key}:${String(value)}`);
  return list.length > 0 ? ` ${list.join(",")}` : "";
}

const stamp = (at: number): string => new Date(performance.timeOrigin + at).toISOString();
const timeOf = (at: number): string => stamp(at).slice(11, 23);
const months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];
const dateOf = (at: number): string => {
  const text = stamp(at);
  return `${text.slice(8, 10)}-${months[Number(text.slice(5, 7)) - 1]}-${text.slice(0, 4)} ${text.slice(11, 23)}`;
};
