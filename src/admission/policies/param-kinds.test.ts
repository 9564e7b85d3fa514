import assert from "node:assert/strict";
import { test } from "node:test";
import type { ValidatingAdmissionPolicy } from "#api";
import { ParamKinds } from "./param-kinds.ts";

const policy = (name: string, generation: number, kind?: string) =>
  ({
    metadata: { name, uid: `uid-${name}`, generation },
    spec: kind === undefined ? {} : { paramKind: { apiVersion: "example.com/v1", kind } },
  }) as unknown as ValidatingAdmissionPolicy;

const setUp = () => {
  const served = new Set<string>();
  const kinds = new ParamKinds(({ kind = "" }) => served.has(kind));
  const missing = (...policies: ValidatingAdmissionPolicy[]): (string | undefined)[] =>
    [...kinds.missing(policies)].map(({ metadata }) => metadata.name);
  return { served, missing };
};

test("a kind is found as soon as it is served", () => {
  const { served, missing } = setUp();
  const policies = [policy("a", 1, "Limit"), policy("plain", 1)];
  assert.deepEqual(missing(...policies), ["a"]);
  served.add("Limit");
  assert.deepEqual(missing(...policies), []);
});

test("a kind that was found stays found until the policy changes", () => {
  const { served, missing } = setUp();
  served.add("Limit");
  assert.deepEqual(missing(policy("a", 1, "Limit")), []);
  served.clear();
  assert.deepEqual(missing(policy("a", 1, "Limit"), policy("b", 1, "Limit")), ["b"]);
  assert.deepEqual(missing(policy("a", 2, "Limit")), ["a"]);
});

test("a policy that was deleted is forgotten", () => {
  const { served, missing } = setUp();
  served.add("Limit");
  missing(policy("a", 1, "Limit"), policy("b", 1, "Limit"));
  missing(policy("b", 1, "Limit"));
  served.clear();
  assert.deepEqual(missing(policy("a", 1, "Limit"), policy("b", 1, "Limit")), ["a"]);
});
