import assert from "node:assert/strict";
import { test } from "node:test";
import { dialects } from "#dialect";
import { startedChecks } from "./started-checks.ts";

const yes = (): boolean => true;
const parts = { aggregation: yes, definitions: yes, admission: yes, counting: yes, leaseCollector: yes };

test("checks fail until the part they stand for has begun", async () => {
  let started = false;
  const checks = startedChecks(dialects.orch, { ...parts, definitions: () => started });
  const failing = (): string[] =>
    checks.flatMap(({ name, check }) => {
      try {
        void check();
        return [];
      } catch {
        return [name];
      }
    });
  assert.deepEqual(failing(), [
    "poststarthook/start-apiextensions-informers",
    "poststarthook/start-apiextensions-controllers",
    "poststarthook/crd-informer-synced",
  ]);
  started = true;
  assert.deepEqual(failing(), []);
});

test("following the encryption configuration is a check only where it is followed", () => {
  const names = (encryptionReload?: () => boolean): number =>
    startedChecks(dialects.orch, { ...parts, encryptionReload }).length;
  assert.equal(names(yes), names() + 1);
});
