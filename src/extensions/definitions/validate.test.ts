import assert from "node:assert/strict";
import { test } from "node:test";
import type { CustomResourceDefinition } from "#api";
import { definitionNameRule } from "./validate.ts";

const definition = {
  spec: { group: "example.com", names: { plural: "things" } },
} as CustomResourceDefinition;
const rule = definitionNameRule(definition);
const other = 'must be spec.names.plural+"."+spec.group';

test("a definition is named after its resource and group", () => {
  assert.deepEqual(rule("things.example.com"), []);
  assert.deepEqual(rule("things.example.org"), [other]);
});

test("a name that is no DNS subdomain is reported once", () => {
  const problems = rule("things.example.com/a");
  assert.equal(problems.length, 2);
  assert.match(problems[0]!, /lowercase RFC 1123 subdomain/);
  assert.equal(problems[1], other);
});

test("a prefix of generated names may end in a dash, but is no name of a definition", () => {
  assert.deepEqual(rule("things-", true), [other]);
});
