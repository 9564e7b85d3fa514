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

test("setting a feature gate without effect causes a warning; one with an effect, or with its default value, does not", () => {
  const warningsFor = (given: string): readonly string[] =>
    settle(setOf(), [`--feature-gates=${given}`]).warnings.filter((line) => line.includes("no effect"));
  assert.deepEqual(warningsFor("NodeAgentLate=false"), [
    "--feature-gates=NodeAgentLate=false (featureGates): known, but of no effect: NodeAgentLate",
  ]);
  assert.deepEqual(
    [warningsFor("NodeAgentLate=true"), warningsFor("Early=true"), warningsFor("AllAlpha=true")],
    [[], [], []],
  );
  assert.deepEqual(
    settle({ ...setOf(), effectiveGates: () => ["NodeAgentLate"] }, ["--feature-gates=NodeAgentLate=false"])
      .warnings,
    [],
  );
});

test("the gates with an effect are not determined if no gate was changed", () => {
  const set = {
    ...setOf(),
    effectiveGates: (): never => {
      throw new Error("evaluated");
    },
  };
  settle(set, ["--feature-gates=NodeAgentLate=true"]);
  settle({ ...set, checks: [] }, []);
  assert.throws(() => settle(set, ["--feature-gates=NodeAgentLate=false"]), /evaluated/);
});
