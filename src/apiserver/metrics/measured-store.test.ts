import assert from "node:assert/strict";
import { test } from "node:test";
import { createMetrics } from "#base";
import { openStore } from "#store";
import { storeMeasuring } from "./measured-store.ts";

test("store operations are timed by operation and object type", async () => {
  const metrics = createMetrics();
  const store = storeMeasuring("/registry", metrics)(await openStore({ memory: true }));
  const value = Buffer.from("x");
  const { revision } = (await store.write({ key: "/registry/pods/a/b", value, expect: "absent" })) as {
    revision: number;
  };
  await store.write({ key: "/registry/pods/a/b", value, expect: revision });
  await store.write({ key: "/registry/pods/a/b", value: null, expect: "any" });
  await store.read({ key: "/registry/nodes/n" });
  await store.read({ prefix: "/registry/nodes/" });
  await store.close();
  const counted = [...metrics.expose().matchAll(/_count\{operation="(\w+)",type="(\w+)"\} 1/g)];
  assert.deepEqual(counted.map(([, operation, type]) => `${operation} ${type}`).sort(), [
    "create pods",
    "delete pods",
    "get nodes",
    "list nodes",
    "update pods",
  ]);
});
