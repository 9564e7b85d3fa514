import assert from "node:assert/strict";
import { test } from "node:test";
import { dialects } from "#dialect";
import { knownGates, resolveGates } from "#options";
import { programMetrics } from "./program-metrics.ts";

const cases: [release: string | undefined, stage: string][] = [
  [undefined, 'stage="ALPHA"} 0'],
  ["1.27", 'stage="ALPHA"} 0'],
  ["1.29", 'stage="BETA"} 1'],
];
for (const [release, shown] of cases)
  test(`the metrics of a program show the stages of its gates in release ${release ?? "by default"}`, () => {
    const { enabled } = resolveGates(knownGates, {}, release === "1.29" ? 29 : 27);
    const exposed = programMetrics({ dialect: dialects.kubernetes, enabled }, release).expose();
    assert.ok(exposed.includes(`kubernetes_feature_enabled{name="SidecarContainers",${shown}\n`));
  });
