import assert from "node:assert/strict";
import { test } from "node:test";
import { dialects } from "#dialect";
import { featureGates, resolveGates, stageGates } from "./gates.ts";
import { gateNames, knownGates } from "./known-gates.ts";
import { laterStages } from "./later-stages.ts";
import type { Gate } from "./option.ts";

const gates: readonly Gate[] = [
  { name: "AllAlpha", stage: "ALPHA", default: false },
  { name: "AllBeta", stage: "BETA", default: false },
  { name: "Early", stage: "ALPHA", default: false },
  { name: "NodeAgentLate", stage: "BETA", default: true },
  { name: "Done", stage: "GA", default: true, locked: true },
  { name: "Unbuilt", stage: "ALPHA", default: false, refused: "nobody needs it" },
];

const resolved: [given: Record<string, boolean>, on: string[]][] = [
  [{}, ["NodeAgentLate", "Done"]],
  [{ AllAlpha: true }, ["AllAlpha", "Early", "NodeAgentLate", "Done"]],
  [{ AllAlpha: true, Early: false }, ["AllAlpha", "NodeAgentLate", "Done"]],
  [{ AllBeta: false }, ["Done"]],
];
for (const [given, on] of resolved) {
  test(`with ${JSON.stringify(given)} these gates are on: ${on.join(", ")}`, () => {
    assert.deepEqual(
      [...resolveGates(gates, given).all()].filter(([, value]) => value).map(([name]) => name),
      on,
    );
  });
}

test("a release sets the stages and defaults of its gates", () => {
  const later = [
    { since: 29, stage: "BETA", default: true },
    { since: 31, stage: "GA", default: true },
  ] as const;
  const known: readonly Gate[] = [...stageGates, { name: "New", stage: "ALPHA", default: false, later }];
  const enabled = (given: Record<string, boolean>, release?: number): boolean =>
    resolveGates(known, given, release).enabled("New");
  assert.deepEqual([enabled({}), enabled({}, 28), enabled({}, 29)], [false, false, true]);
  assert.deepEqual([enabled({ AllBeta: false }, 30), enabled({ AllBeta: false }, 31)], [false, true]);
  assert.deepEqual([enabled({ New: false }, 31), enabled({ AllAlpha: true })], [false, true]);
});

test("every gate of a later release has the releases that it depends on", () => {
  const { later } = gateNames;
  const missing = later.filter((name) => !knownGates.some((gate) => gate.name === name && gate.later));
  assert.deepEqual(missing, []);
  const known = new Set(knownGates.map(({ name }) => name));
  assert.deepEqual(
    Object.keys(laterStages).filter((name) => !known.has(name)),
    [],
  );
});

const written: [text: string, given: Record<string, boolean> | RegExp][] = [
  ["Early=true", { Early: true }],
  ["Early=True,NodeAgentLate=f", { Early: true, NodeAgentLate: false }],
  [" Early = 1 ,", { Early: true }],
  ["Early", /missing bool value for Early/],
  ["Early=", /invalid value of Early=/],
  ["Early=maybe", /invalid value of Early=/],
  ["Unbuilt=false", { Unbuilt: false }],
  ["Unbuilt=true", /Unbuilt is refused: nobody needs it/],
];
for (const [text, given] of written) {
  test(`gates given as ${JSON.stringify(text)} are ${given instanceof RegExp ? "rejected" : "accepted"}`, () => {
    const type = featureGates(gates, dialects.orch);
    if (given instanceof RegExp) assert.throws(() => type.parse(text), given);
    else assert.deepEqual(type.parse(text), given);
  });
}
