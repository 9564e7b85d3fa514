import assert from "node:assert/strict";
import { test } from "node:test";
import { dialects } from "#dialect";
import type { GroupVersion, VirtualResource } from "../catalog.ts";
import { specialPaths } from "./special-paths.ts";

const inVersions: [group: string, version: string, path: string, kind: string][] = [
  ["authentication.orch.io", "v1alpha1", "selfsubjectreviews", "SelfSubjectReview"],
  ["authentication.orch.io", "v1beta1", "selfsubjectreviews", "SelfSubjectReview"],
  ["authentication.orch.io", "v1", "tokenreviews", "TokenReview"],
];
for (const [group, version, path, kind] of inVersions) {
  test(`a ${kind} is described in the requested version: ${version}`, () => {
    const at: GroupVersion = {
      group,
      version,
      groupVersion: `${group}/${version}`,
      neutral: group,
      endpoints: new Map(),
      virtual: new Map(),
    };
    const special: VirtualResource = {
      path,
      kind,
      namespaced: false,
      verbs: ["create"],
      handle: () => assert.fail("only described"),
    };
    const items = specialPaths(at, special, dialects.orch);
    assert.deepEqual(
      items.map((item) => [
        item.path,
        item.operations.map((operation) => [operation.method, operation.kind]),
      ]),
      [[`/apis/${group}/${version}/${path}`, [["post", { group, version, kind }]]]],
    );
    const { body } = items[0]!.operations[0]!;
    assert.equal(typeof body === "object" && body.kind?.version, version);
  });
}
