import assert from "node:assert/strict";
import { test } from "node:test";
import { dialects } from "#dialect";
import { publishedObject } from "./published.ts";
import { structuralOf } from "./structural.ts";

for (const version of ["v2", "v3"] as const)
  test(`the common fields are published in ${version} with the words that clients look for`, () => {
    const schema = structuralOf({ type: "object", description: "Something." }, dialects.kubernetes);
    const { properties } = publishedObject(schema, {
      dialect: dialects.kubernetes,
      version,
      metadata: "#/x",
    });
    assert.match(properties?.["apiVersion"]?.description ?? "", /^APIVersion defines /);
    assert.match(properties?.["metadata"]?.description ?? "", /^Standard object's metadata/);
  });
