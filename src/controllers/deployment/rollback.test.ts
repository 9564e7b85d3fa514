import assert from "node:assert/strict";
import { test } from "node:test";
import { dialects } from "#dialect";
import { rollbackTarget, rolledBack } from "./rollback.ts";
import type { SeenDeployment, SeenReplicaSet } from "./rollout.ts";

const dialect = dialects.orch;
const { deploymentRevision, deprecatedRollbackTo, lastApplied } = dialect.names.annotations;
const template = (image: string, labels: object) => ({
  metadata: { labels: { app: "web", ...labels } },
  spec: { containers: [{ name: "c", image }] },
});
const setOf = (revision: string, image: string, cause: string): SeenReplicaSet =>
  ({
    metadata: { annotations: { [deploymentRevision]: revision, cause } },
    spec: { template: template(image, { "pod-template-hash": image }) },
  }) as unknown as SeenReplicaSet;
const deploymentTo = (target: string): SeenDeployment =>
  ({
    metadata: {
      name: "web",
      annotations: {
        [deprecatedRollbackTo]: target,
        [deploymentRevision]: "3",
        [lastApplied]: "{}",
        cause: "three",
      },
    },
    spec: { template: template("three", {}) },
  }) as unknown as SeenDeployment;
const sets = [setOf("1", "one", "first"), setOf("2", "two", "second"), setOf("3", "three", "third")];

const cases: [name: string, target: string, event: string, image: string, cause: string][] = [
  [
    "a requested revision is restored with its annotations",
    "1",
    'Normal DeploymentRollback Rolled back deployment "web" to revision 1',
    "one",
    "first",
  ],
  [
    "0 stands for the last one",
    "0",
    'Normal DeploymentRollback Rolled back deployment "web" to revision 2',
    "two",
    "second",
  ],
  [
    "an identical template is left alone",
    "3",
    'Warning DeploymentRollbackTemplateUnchanged The rollback revision contains the same template as current deployment "web"',
    "three",
    "three",
  ],
  [
    "a missing revision is reported",
    "9",
    "Warning DeploymentRollbackRevisionNotFound Unable to find the revision to rollback to.",
    "three",
    "three",
  ],
];
for (const [name, target, expected, image, cause] of cases)
  test(name, () => {
    const before = deploymentTo(target);
    const { deployment, event } = rolledBack(before, sets, rollbackTarget(before, dialect)!, dialect);
    assert.equal(`${event.type} ${event.reason} ${event.text}`, expected);
    assert.deepEqual(deployment.spec.template, template(image, {}));
    assert.deepEqual(deployment.metadata.annotations, {
      [deploymentRevision]: "3",
      [lastApplied]: "{}",
      cause,
    });
  });

test("without an earlier revision, there is nothing to roll back to", () => {
  const { event } = rolledBack(deploymentTo("0"), sets.slice(2), 0n, dialect);
  assert.equal(event.text, "Unable to find last revision.");
});

test("a revision that is not a number requests nothing", () =>
  assert.equal(rollbackTarget(deploymentTo("last"), dialect), undefined));
