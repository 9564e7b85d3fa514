import assert from "node:assert/strict";
import { test } from "node:test";
import { dialects } from "#dialect";
import { builtInStrategies as strategies } from "#registry";
import { uncachedResources } from "./uncached.ts";

function uncached(watchCacheSizes: { resource: string; group: string; size: number }[], watchCache = true) {
  const warned: unknown[] = [];
  const is = uncachedResources({ watchCache, watchCacheSizes }, strategies, dialects.orch, {
    warn: (_message, fields) => warned.push(fields),
  });
  return { names: strategies.filter(is).map(({ resource }) => resource), warned };
}

test("a resource of size zero is read from the store, others are not", () => {
  const { names, warned } = uncached([
    { resource: "pods", group: "", size: 0 },
    { resource: "nodes", group: "", size: 7 },
    { resource: "deployments", group: "apps", size: 0 },
  ]);
  assert.deepEqual([names.toSorted(), warned], [["deployments", "pods"], []]);
});

test("a resource is named with its group; an unknown name is reported", () => {
  const { names, warned } = uncached([
    { resource: "deployments", group: "", size: 0 },
    { resource: "pods", group: "apps", size: 0 },
    { resource: "unicorns", group: "", size: 5 },
  ]);
  assert.deepEqual([names, warned.length], [[], 3]);
});

test("without the cache all resources are read from the store", () =>
  assert.equal(uncached([], false).names.length, strategies.length));
