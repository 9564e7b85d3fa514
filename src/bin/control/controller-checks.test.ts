// Health checks of controllers, from their names to the responses of the program's port.
import assert from "node:assert/strict";
import { test } from "node:test";
import { createMetrics } from "#base";
import { controllerNames } from "#controllers";
import { dialects } from "#dialect";
import { freePort } from "#kit";
import { controllerChecks } from "./controller-checks.ts";
import { openHealthPort } from "./health-port.ts";

test("every controller has a health check, except the one started before all others", async (t) => {
  const port = await freePort();
  const checks = controllerChecks(controllerNames);
  t.after(
    await openHealthPort({
      address: "127.0.0.1",
      port,
      dialect: dialects.kubernetes,
      metrics: createMetrics(),
      checks: () => checks,
      exportsHealthMetrics: true,
      resetsMetrics: false,
    }),
  );
  const ask = async (path: string): Promise<string> => {
    const answer = await fetch(`http://127.0.0.1:${port}${path}`);
    return `${answer.status} ${await answer.text()}`;
  };
  const expected = controllerNames.filter((name) => name !== "serviceaccount-token");
  assert.ok(expected.length > 25 && expected.length < controllerNames.length);
  const lines = expected.map((name) => `[+]${name} ok\n`).join("");
  assert.equal(await ask("/healthz?verbose"), `200 ${lines}healthz check passed\n`);
  for (const name of expected) assert.equal(await ask(`/healthz/${name}`), "200 ok", name);
  assert.match(await ask("/healthz/serviceaccount-token"), /^404/);
  assert.match(await ask("/healthz?verbose&exclude=ttl"), /\[\+\]ttl excluded: ok\n/);
  assert.match(await ask("/metrics/slis"), /healthcheck\{name="podgc",type="healthz"\} 1\n/);
});
