import assert from "node:assert/strict";
import { test } from "node:test";
import { dialects } from "#dialect";
import { ownerOf, ownership } from "./owner.ts";
import { runtimeLabelNames } from "./runtime-labels.ts";

const dialect = dialects.orch;
const names = runtimeLabelNames(dialect);
const labelled = (uid: string, owner?: string) => ({
  [names.podUid]: uid,
  ...(owner !== undefined && { [names.owner]: owner }),
});

test("the agent with the default root directory has no owner label, every other has its own", () => {
  assert.equal(ownerOf(dialect.paths.agentRoot, dialect), undefined);
  const [a, b] = [ownerOf("/data/a", dialect), ownerOf("/data/b", dialect)];
  assert.match(a!, /^[0-9a-f]{16}$/);
  assert.notEqual(a, b);
  assert.equal(a, ownerOf("/data/a/", dialect));
});

const known = new Set(["kept"]);
const cases: [name: string, owner: string | undefined, labels: Record<string, string>, owns: boolean][] = [
  ["an agent owns what has its owner label", "me", labelled("u", "me"), true],
  ["an agent does not own what has another owner label", "me", labelled("u", "you"), false],
  ["an agent with an owner label does not own what has none", "me", labelled("u"), false],
  ["unless the pod has a directory below its root", "me", labelled("kept"), true],
  ["a pod directory does not override another owner label", "me", labelled("kept", "you"), false],
  ["the default agent owns what has no owner label", undefined, labelled("u"), true],
  ["the default agent does not own what has an owner label", undefined, labelled("u", "you"), false],
  ["no agent owns what has no pod labels", undefined, {}, false],
];
for (const [name, owner, labels, owns] of cases)
  test(name, () => assert.equal(ownership(dialect, owner, known)(labels), owns));
