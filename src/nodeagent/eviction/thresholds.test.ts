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
  ["a share above 100%", { hard: { "memory.available": "101%" } }, /<= 100%/],
  ["a negative share", { hard: { "memory.available": "-5%" } }, />= 0%/],
  ["a share that is not a number", { hard: { "memory.available": "10 %" } }, /is not a percentage/],
  ["an unknown signal", { hard: { memory: "10%" } }, /unsupported eviction signal memory/],
  ["a soft threshold without grace period", { soft: { "nodefs.available": "1Gi" } }, /grace period must be/],
  ["a negative grace period", { softGrace: { "nodefs.available": "-1s" } }, /must be a positive value/],
  ["a grace period without unit", { softGrace: { "nodefs.available": "30" } }, /missing unit/],
  [
    "a negative minimum reclaim",
    { minimumReclaim: { "memory.available": "-1" } },
    /negative eviction minimum/,
  ],
  ["a minimum reclaim of 0%", { minimumReclaim: { "memory.available": "0%" } }, /must be positive/],
  ["a minimum reclaim of an unknown signal", { minimumReclaim: { x: "1" } }, /unsupported eviction signal x/],
];
for (const [name, given, message] of refused)
  test(`${name} is rejected`, () => assert.throws(() => parse(given), message));

test("if a limit is enforced for pods, a hard memory threshold also applies to all pods together", () => {
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

test("a percentage of the capacity is computed in single precision", () => {
  const [threshold] = parse({ hard: { "memory.available": "10%" } });
  assert.equal(formatQuantity(thresholdQuantity(threshold!.value, parseQuantity("10Gi"))), "1073741840");
});
