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

test("the agent with the standard root directory has no owner label, every other has its own", () => {
  assert.equal(ownerOf(dialect.paths.agentRoot, dialect), undefined);
  const [a, b] = [ownerOf("/data/a", dialect), ownerOf("/data/b", dialect)];
  assert.match(a!, /^[0-9a-f]{16}$/);
  assert.notEqual(a, b);
  assert.equal(a, ownerOf("/data/a/", dialect));
});

const known = new Set(["kept"]);
const cases: [name: string, owner: string | undefined, labels: Record<string, string>, owns: boolean][] = [
  ["what carries its own label is an agent's", "me", labelled("u", "me"), true],
  ["what another agent labelled is not", "me", labelled("u", "you"), false],
  ["what nobody labelled is not a labelling agent's", "me", labelled("u"), false],
  ["unless it has a directory below its root", "me", labelled("kept"), true],
  ["a directory does not outweigh another's label", "me", labelled("kept", "you"), false],
  ["what nobody labelled is the standard agent's", undefined, labelled("u"), true],
  ["what somebody labelled is not the standard agent's", undefined, labelled("u", "you"), false],
  ["what names no pod is nobody's", undefined, {}, false],
];
for (const [name, owner, labels, owns] of cases)
  test(name, () => assert.equal(ownership(dialect, owner, known)(labels), owns));
