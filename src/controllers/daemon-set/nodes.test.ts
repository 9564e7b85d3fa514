import assert from "node:assert/strict";
import { test } from "node:test";
import type { Toleration } from "#api";
import { dialects } from "#dialect";
import { type SeenDaemonSet, templateFor } from "./nodes.ts";

const dialect = dialects.orch;
const { notReady, diskPressure } = dialect.names.taints;

/** Returns the tolerations of a daemon pod for one taint. */
function tolerationsFor(key: string, given: Toleration): Toleration[] {
  const template = { metadata: {}, spec: { tolerations: [given] } };
  const set = { spec: { template } } as unknown as SeenDaemonSet;
  const { spec } = templateFor(set, "n1", "hash", undefined, dialect);
  return (spec.tolerations ?? []).filter((each) => each.key === key);
}

const own: Toleration = { key: notReady, operator: "Exists", effect: "NoExecute" };
const cases: [name: string, key: string, given: Toleration, expected: Toleration[]][] = [
  ["the same toleration for some time is replaced", notReady, { ...own, tolerationSeconds: 60 }, [own]],
  [
    "one of a value stays",
    notReady,
    { ...own, operator: "Equal", value: "x" },
    [{ ...own, operator: "Equal", value: "x" }, own],
  ],
  [
    "one without an operator stays",
    diskPressure,
    { key: diskPressure, effect: "NoSchedule" },
    [
      { key: diskPressure, effect: "NoSchedule" },
      { key: diskPressure, operator: "Exists", effect: "NoSchedule" },
    ],
  ],
];
for (const [name, key, given, expected] of cases)
  test(name, () => assert.deepEqual(tolerationsFor(key, given), expected));
