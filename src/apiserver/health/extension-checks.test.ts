import assert from "node:assert/strict";
import { test } from "node:test";
import { dialects } from "#dialect";
import { extensionChecks } from "./extension-checks.ts";

function failing(definitionsLoaded: boolean, servicesRegistered: boolean): string[] {
  const checks = extensionChecks(dialects.kubernetes, {
    definitionsLoaded: () => definitionsLoaded,
    servicesRegistered: () => servicesRegistered,
  });
  return checks.flatMap(({ name, check }) => {
    try {
      void check();
      return [];
    } catch {
      return [name];
    }
  });
}

test("checks of custom resources fail until definitions are loaded", () => {
  assert.deepEqual(failing(false, true), [
    "poststarthook/start-apiextensions-informers",
    "poststarthook/start-apiextensions-controllers",
    "poststarthook/crd-informer-synced",
  ]);
});

test("checks of aggregation fail until the server's versions are registered", () => {
  const names = failing(true, false);
  assert.equal(names.length, 9);
  assert.ok(names.includes("poststarthook/start-kube-aggregator-informers"));
  assert.ok(names.includes("poststarthook/kube-apiserver-autoregistration"));
  assert.ok(names.includes("autoregister-completion"));
});

test("afterwards all of them pass", () => {
  assert.deepEqual(failing(true, true), []);
});
