// The published schemas of all declarations equal those of the reference, except for descriptions.

import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import { test } from "node:test";
import * as api from "#api";
import { groupFrom } from "#dialect";
import { type SchemaObject, collectDefinitions, schemaName } from "#schema";
import { declaredLists, declaredMessages, original as dialect } from "./kit/declarations.ts";

const facts = new URL("../../shared/reference/openapi-facts.json", import.meta.url);
const undescribed = (value: unknown, inProperties = false): unknown => {
  if (Array.isArray(value)) return value.map((item) => undescribed(item));
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .filter(([key]) => inProperties || key !== "description")
      .map(([key, item]) => [key, undescribed(item, key === "properties" && !inProperties)]),
  );
};

test("published schemas are those of the reference", (t) => {
  if (!existsSync(facts)) return t.skip("the reference facts are not installed next to the repository");
  const known = (JSON.parse(readFileSync(facts, "utf8")) as { definitions: Record<string, SchemaObject> })
    .definitions;
  const kindsKey = `${dialect.wire.extensionPrefix}group-version-kind` as const;
  const versions = (
    known[schemaName(api.DeleteOptions, dialect)]![kindsKey as "x-"] as { group: string; version: string }[]
  ).map(({ group, version }) => ({
    ...groupFrom(dialect, group),
    version,
  }));
  const ours = collectDefinitions([...declaredMessages, ...declaredLists], dialect, "v2", {
    messages: [api.DeleteOptions, api.WatchEvent],
    versions,
    patch: true,
  });

  // That Status is also a kind of another group is declared by the server's documents, not by its schema.
  const status = known[schemaName(api.Status, dialect)] as Record<string, unknown>;
  status[kindsKey] = (status[kindsKey] as unknown[]).slice(0, 1);

  assert.deepEqual(
    Object.keys(known).filter((name) => !(name in ours)),
    [],
    "all that the reference publishes",
  );
  for (const [name, schema] of Object.entries(known)) assert.deepEqual(undescribed(ours[name]), schema, name);
});
