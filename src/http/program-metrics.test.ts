import assert from "node:assert/strict";
import { test } from "node:test";
import { createMetrics } from "#base";
import { dialects } from "#dialect";
import { buildInfo, featureMetrics } from "./program-metrics.ts";

test("the version and the feature gates of a program are exported in its dialect", () => {
  for (const [name, prefix] of [
    ["kubernetes", "kubernetes_"],
    ["orch", "orch_"],
  ] as const) {
    const metrics = createMetrics();
    const dialect = dialects[name];
    buildInfo(metrics, dialect);
    featureMetrics(metrics, {
      dialect,
      gates: [
        { name: "AllBeta", stage: "BETA", default: false },
        { name: "DryRun", stage: "GA", default: true, locked: true },
      ],
      enabled: (gate) => gate === "DryRun",
    });
    const lines = metrics.expose().split("\n");
    assert.ok(lines.includes(`${prefix}feature_enabled{name="AllBeta",stage="BETA"} 0`));
    assert.ok(lines.includes(`${prefix}feature_enabled{name="DryRun",stage=""} 1`));
    const version = lines.find((line) => line.startsWith(`${prefix}build_info{`));
    assert.match(version ?? "", /git_version="v1\.27\.\d+",.*major="1",minor="27",.*\} 1$/);
  }
});
