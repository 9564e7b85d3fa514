import assert from "node:assert/strict";
import { test } from "node:test";
import { Pod } from "#api";
import { gatedStrategies } from "./gated-strategies.ts";
import { builtInStrategies } from "./strategies/index.ts";

const changed = (isOn: boolean): string[] =>
  gatedStrategies(builtInStrategies, { isOn: () => isOn, expressionRelease: 27 })
    .filter(({ hub }) => builtInStrategies.every((each) => each.hub !== hub))
    .map(({ resource }) => resource);

test("only these kinds have fields behind feature gates", () => {
  assert.deepEqual(changed(false).toSorted(), [
    "cronjobs",
    "daemonsets",
    "deployments",
    "jobs",
    "persistentvolumes",
    "pods",
    "podtemplates",
    "replicasets",
    "replicationcontrollers",
    "services",
    "statefulsets",
  ]);
  assert.deepEqual(changed(true), []);
});

test("a gated kind is available only if its gate is on", () => {
  const there = (isOn: boolean): boolean =>
    gatedStrategies(builtInStrategies, { isOn: () => isOn, expressionRelease: 27 }).some(
      ({ resource }) => resource === "clustertrustbundles",
    );
  assert.deepEqual([there(true), there(false)], [true, false]);
});

test("a served version that equals the stored version stays equal", () => {
  const [pods] = gatedStrategies(
    builtInStrategies
      .filter(({ resource }) => resource === "pods")
      .map((each) => ({ ...each, served: [{ schema: Pod }] })),
    { isOn: () => false, expressionRelease: 27 },
  );
  assert.equal(pods!.served![0]!.schema, pods!.hub);
});
