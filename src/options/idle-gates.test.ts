import assert from "node:assert/strict";
import { test } from "node:test";
import { dialects } from "#dialect";
import { featureGates, stageGates } from "./gates.ts";
import { type Gate, type OptionSet, option, section } from "./option.ts";
import { bool } from "./option-type.ts";
import { settle } from "./settle.ts";

const dialect = dialects.orch;
const gates: readonly Gate[] = [
  ...stageGates,
  { name: "Early", stage: "ALPHA", default: false },
  { name: "NodeAgentLate", stage: "BETA", default: true },
];
const gatesOption = option({
  flag: "feature-gates",
  config: "featureGates",
  type: featureGates(gates, dialect),
  default: {},
  doc: "Gates.",
});
const trial = option({ flag: "trial", type: bool, default: false, gate: "Early", doc: "A trial." });
const setOf = (): OptionSet => ({
  program: "agent",
  summary: "An agent.",
  dialect,
  sections: [section("All", [gatesOption, trial])],
  gates,
  checks: [],
});

test("a feature gate that nothing asks about is told to be of no effect; one that acts, or keeps its value, is not", () => {
  const told = (given: string): readonly string[] =>
    settle(setOf(), [`--feature-gates=${given}`]).warnings.filter((line) => line.includes("no effect"));
  assert.deepEqual(told("NodeAgentLate=false"), [
    "--feature-gates=NodeAgentLate=false (featureGates): known, but of no effect: NodeAgentLate",
  ]);
  assert.deepEqual([told("NodeAgentLate=true"), told("Early=true"), told("AllAlpha=true")], [[], [], []]);
  assert.deepEqual(
    settle({ ...setOf(), effectiveGates: () => ["NodeAgentLate"] }, ["--feature-gates=NodeAgentLate=false"])
      .warnings,
    [],
  );
});

test("which gates act is not worked out where none was changed", () => {
  const unasked = {
    ...setOf(),
    actingGates: (): never => {
      throw new Error("asked");
    },
  };
  settle(unasked, ["--feature-gates=NodeAgentLate=true"]);
  settle({ ...unasked, checks: [] }, []);
  assert.throws(() => settle(unasked, ["--feature-gates=NodeAgentLate=false"]), /asked/);
});
