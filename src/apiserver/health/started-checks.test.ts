import assert from "node:assert/strict";
import { test } from "node:test";
import { dialects } from "#dialect";
import { inOrder, startedChecks } from "./started-checks.ts";

const yes = (): boolean => true;
const parts = { aggregation: yes, definitions: yes, admission: yes, counting: yes, leaseCollector: yes };

test("checks fail until their part has started", async () => {
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

test("optional parts have a check only if they are configured", () => {
  const plain = startedChecks(dialects.orch, parts).map(({ name }) => name);
  const added = (more: object): string[] =>
    startedChecks(dialects.orch, { ...parts, ...more })
      .map(({ name }) => name)
      .filter((name) => !plain.includes(name));
  assert.deepEqual(added({ encryptionReload: yes }), [
    "poststarthook/start-encryption-provider-config-automatic-reload",
  ]);
  assert.deepEqual(added({ plainLimits: yes }), ["poststarthook/max-in-flight-filter"]);
  assert.deepEqual(added({ proxyCertificate: yes }), ["poststarthook/aggregator-reload-proxy-client-cert"]);
});

test("checks are listed in the order of the reference, additional ones at the end", () => {
  const named = (...names: string[]) => names.map((name) => ({ name, check: () => undefined }));
  const given = named(
    "autoregister-completion",
    "ours",
    "poststarthook/rbac/bootstrap-roles",
    "poststarthook/priority-and-fairness-filter",
    "poststarthook/start-kube-apiserver-admission-initializer",
  );
  assert.deepEqual(
    inOrder(given, dialects.kubernetes).map(({ name }) => name),
    [
      "poststarthook/start-kube-apiserver-admission-initializer",
      "poststarthook/priority-and-fairness-filter",
      "poststarthook/rbac/bootstrap-roles",
      "autoregister-completion",
      "ours",
    ],
  );
});
