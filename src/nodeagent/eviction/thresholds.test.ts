import assert from "node:assert/strict";
import { test } from "node:test";
import { formatQuantity, parseQuantity } from "#base";
import {
  type ThresholdSettings,
  type ThresholdValue,
  parseThresholds,
  thresholdQuantity,
} from "./thresholds.ts";

const nothing: ThresholdSettings = {
  hard: {},
  soft: {},
  softGrace: {},
  minimumReclaim: {},
  enforcePods: false,
};
const parse = (more: Partial<ThresholdSettings>) => parseThresholds({ ...nothing, ...more });
const text = (value: ThresholdValue): string =>
  "quantity" in value ? formatQuantity(value.quantity) : `${value.percentage}`;

const values: [given: string, is: string | undefined][] = [
  ["100Mi", "100Mi"],
  ["1.5Gi", "1536Mi"],
  ["12.5%", "0.125"],
  ["5%%", "0.05000000074505806"],
  ["1e1%", "0.10000000149011612"],
  ["0%", undefined],
  ["100%", undefined],
];
for (const [given, is] of values)
  test(`a threshold of ${given} is ${is ?? "off"}`, () => {
    const [threshold] = parse({ hard: { "memory.available": given } });
    assert.equal(threshold && text(threshold.value), is);
  });

const refused: [name: string, given: Partial<ThresholdSettings>, message: RegExp][] = [
  ["no amount", { hard: { "memory.available": "0" } }, /must be positive/],
  ["a negative amount", { hard: { "memory.available": "-5Mi" } }, /must be positive/],
  ["more than all", { hard: { "memory.available": "101%" } }, /<= 100%/],
  ["a negative share", { hard: { "memory.available": "-5%" } }, />= 0%/],
  ["a share that is no number", { hard: { "memory.available": "10 %" } }, /is no percentage/],
  ["an unknown signal", { hard: { memory: "10%" } }, /unsupported eviction signal memory/],
  ["a soft threshold without grace", { soft: { "nodefs.available": "1Gi" } }, /grace period must be/],
  ["a negative grace", { softGrace: { "nodefs.available": "-1s" } }, /must be a positive value/],
  ["a grace without unit", { softGrace: { "nodefs.available": "30" } }, /missing unit/],
  ["a negative reclaim", { minimumReclaim: { "memory.available": "-1" } }, /negative eviction minimum/],
  ["a reclaim of no share", { minimumReclaim: { "memory.available": "0%" } }, /must be positive/],
  ["a reclaim of an unknown signal", { minimumReclaim: { x: "1" } }, /unsupported eviction signal x/],
];
for (const [name, given, message] of refused)
  test(`${name} is refused`, () => assert.throws(() => parse(given), message));

test("where pods are held to a limit, a hard memory threshold holds for all pods together, too", () => {
  const hard = { "memory.available": "500Mi" };
  const soft = { "memory.available": "1Gi" };
  const softGrace = { "memory.available": "1m" };
  const found = parse({ hard, soft, softGrace, enforcePods: true });
  assert.deepEqual(
    found.map(({ signal, graceMilliseconds }) => [signal, graceMilliseconds]),
    [
      ["memory.available", 0],
      ["memory.available", 60_000],
      ["allocatableMemory.available", 0],
    ],
  );
});

test("a share is taken of the capacity as a single-precision number", () => {
  const [threshold] = parse({ hard: { "memory.available": "10%" } });
  assert.equal(formatQuantity(thresholdQuantity(threshold!.value, parseQuantity("10Gi"))), "1073741840");
});
