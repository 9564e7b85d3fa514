// Validation rules without the feature gate CustomResourceValidationExpressions: new ones are dropped, stored
// ones are kept but not evaluated.
import assert from "node:assert/strict";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { type RunningServer, startServer } from "../../library.ts";
import { definition, version } from "./custom-resources.fixture.ts";

const definitions = "/apis/apiextensions.orch.io/v1/customresourcedefinitions";
const rules = [{ rule: "self.a < 5" }];
const spec = { type: "object", properties: { a: { type: "integer" } }, "x-orch-validations": rules };
const body = definition([version({ spec })]);
const { group } = body["spec"] as { group: string };
const widgets = `/apis/${group}/v1/namespaces/default/widgets`;
const widget = { apiVersion: `${group}/v1`, kind: "Widget", metadata: { name: "w" }, spec: { a: 7 } };

async function ask(server: RunningServer, method: string, path: string, sent?: unknown) {
  const type = method === "PATCH" ? "application/merge-patch+json" : "application/json";
  const answer = await server.inject({
    method,
    path,
    ...(sent !== undefined && { headers: { "content-type": type }, body: JSON.stringify(sent) }),
  });
  return { status: answer.status, body: Buffer.from(await answer.bytes()).toString() };
}

async function established(server: RunningServer): Promise<void> {
  while ((await ask(server, "GET", widgets)).status !== 200)
    await new Promise((resolve) => setImmediate(resolve));
}

test("rules are dropped from new definitions, and kept but not evaluated in stored ones", async () => {
  const dir = await mkdtemp(join(tmpdir(), "disabled-rules-"));
  after(() => rm(dir, { recursive: true, force: true }));
  const on = await startServer({ store: { dir } });
  assert.equal((await ask(on, "POST", definitions, body)).status, 201);
  await established(on);
  assert.equal((await ask(on, "POST", widgets, widget)).status, 422);
  await on.stop();

  const flags = ["--feature-gates=CustomResourceValidationExpressions=false"];
  const off = await startServer({ store: { dir }, flags });
  await established(off);
  assert.equal((await ask(off, "POST", widgets, widget)).status, 201);
  const path = `${definitions}/${body.metadata.name}`;
  const updated = await ask(off, "PATCH", path, { metadata: { labels: { x: "y" } } });
  assert.equal(updated.status, 200);
  assert.match(updated.body, /"x-orch-validations"/);

  assert.equal((await ask(off, "DELETE", path)).status, 200);
  while ((await ask(off, "GET", path)).status !== 404) await new Promise((resolve) => setTimeout(resolve, 5));
  const created = await ask(off, "POST", definitions, body);
  assert.equal(created.status, 201);
  assert.doesNotMatch(created.body, /"x-orch-validations"/);
  await off.stop();
});
