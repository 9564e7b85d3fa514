import assert from "node:assert/strict";
import { test } from "node:test";
import { type Range, endsOf, fixed, pan, presetFor, zoom } from "./range.ts";
import { day, formatSpan, hour, minute, parseSpan, roughSpan, second, ticks } from "./time.ts";

const spans: [text: string, milliseconds: number | undefined][] = [
  ["90s", 90 * second],
  ["1h30m", 90 * minute],
  ["7d", 7 * day],
  ["1.5h", 90 * minute],
  ["10", undefined],
  ["h", undefined],
  ["", undefined],
  ["-1h", undefined],
];
for (const [text, milliseconds] of spans)
  test(`the span ${JSON.stringify(text)} is parsed as ${milliseconds}`, () =>
    assert.equal(parseSpan(text), milliseconds));

test("spans are formatted in their shortest exact form", () => {
  assert.equal(formatSpan(90 * minute), "1h30m");
  assert.equal(formatSpan(1500), "1s500ms");
  assert.equal(formatSpan(0), "0s");
});

test("ages are formatted roughly", () => {
  assert.deepEqual([5 * second, 3 * minute, hour + 5 * minute, 9 * hour, 2 * day + hour].map(roughSpan), [
    "5s",
    "3m",
    "1h 5m",
    "9h",
    "2d",
  ]);
});

test("the default span is an hour, or the next preset that covers the duration", () => {
  assert.deepEqual([0, minute, 2 * hour, 7 * hour, 30 * day].map(presetFor), [
    hour,
    hour,
    6 * hour,
    24 * hour,
    7 * day,
  ]);
});

const now = 1_000_000_000;
const live: Range = { live: true, span: hour };
const ranges: [name: string, got: Range, want: Range][] = [
  ["a live range stays live when it is made wider", zoom(live, 2, now), { live: true, span: 2 * hour }],
  ["it is never narrower than a second", zoom(live, 1e-9, now), { live: true, span: second }],
  ["nor wider than thirty days", zoom(live, 1e9, now), { live: true, span: 30 * day }],
  [
    "narrower around a time, the time stays where it is",
    zoom({ live: false, from: 0, to: 100_000 }, 0.5, now, 25_000),
    { live: false, from: 12_500, to: 62_500 },
  ],
  [
    "a live range that goes back is fixed",
    pan(live, -0.5, now),
    { live: false, from: now - 1.5 * hour, to: now - 0.5 * hour },
  ],
  [
    "a range that reaches now follows it again",
    pan({ live: false, from: now - hour, to: now - 1 }, 0.5, now),
    { live: true, span: hour - 1 },
  ],
  ["ends may be given either way round", fixed(9000, 1000), { live: false, from: 1000, to: 9000 }],
  ["a click is widened to a second", fixed(5000, 5000), { live: false, from: 4500, to: 5500 }],
];
for (const [name, got, want] of ranges) test(name, () => assert.deepEqual(got, want));

test("a live range ends now", () => assert.deepEqual(endsOf(live, now), { from: now - hour, to: now }));

test("an axis has round ticks, from seconds to days, and never more than requested", () => {
  for (const span of [second, 30 * second, 10 * minute, 5 * hour, 3 * day, 30 * day]) {
    const found = ticks(now, now + span, 8);
    assert.ok(found.length >= 2 && found.length <= 9, `${formatSpan(span)} has ${found.length}`);
    assert.ok(found.every(({ time }) => time >= now && time <= now + span));
  }
});
