import assert from "node:assert/strict";
import { test } from "node:test";
import { dialects } from "#dialect";
import { newSetAnnotations, revisionAfter } from "./revisions.ts";
import type { SeenDeployment, SeenReplicaSet } from "./rollout.ts";

const dialect = dialects.orch;
const { deploymentRevision, deploymentRevisionHistory } = dialect.names.annotations;
const setAt = (revision: string): SeenReplicaSet =>
  ({ metadata: { annotations: { [deploymentRevision]: revision } } }) as unknown as SeenReplicaSet;

const cases: [name: string, revisions: string[], next: bigint][] = [
  ["the first revision is 1", [], 1n],
  ["the next one follows the highest", ["2", "10", "9"], 11n],
  ["a revision that is not a number is ignored", ["new", "4"], 5n],
  ["a revision beyond 2^53 is counted exactly", ["3546343826724305832"], 3546343826724305833n],
];
for (const [name, revisions, next] of cases)
  test(name, () => assert.equal(revisionAfter(revisions.map(setAt), dialect), next));

test("a set that becomes the new one again keeps its old revision in the history", () => {
  const deployment = { metadata: {} } as unknown as SeenDeployment;
  const before = { [deploymentRevision]: "3546343826724305832" };
  assert.deepEqual(newSetAnnotations(deployment, before, 3546343826724305833n, dialect), {
    [deploymentRevision]: "3546343826724305833",
    [deploymentRevisionHistory]: "3546343826724305832",
  });
  assert.deepEqual(newSetAnnotations(deployment, before, 7n, dialect), before);
});
