import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { virtualClock } from "#base";
import { dialectNamed } from "#dialect";
import { serve } from "../server.fixture.ts";

const folder = mkdtempSync(join(tmpdir(), "authorization-config-"));
after(() => rmSync(folder, { recursive: true, force: true }));
const dialect = dialectNamed("orch")!;

interface Review {
  readonly apiVersion: string;
  readonly spec: { readonly user: string };
}

let files = 0;
/** Starts an authorization webhook; returns its client config and the reviews it received. */
async function service(answer: (review: Review) => object | undefined) {
  const reviews: Review[] = [];
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => {
      const review = JSON.parse(Buffer.concat(chunks).toString()) as Review;
      reviews.push(review);
      const status = answer(review);
      response.writeHead(status ? 200 : 404).end(JSON.stringify({ ...review, status }));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  after(() => {
    server.closeAllConnections();
    server.close();
  });
  const config = join(folder, `client-${++files}.json`);
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  writeFileSync(
    config,
    JSON.stringify({
      apiVersion: "v1",
      kind: "Config",
      clusters: [{ name: "c", cluster: { server: url } }],
      users: [{ name: "u", user: {} }],
      contexts: [{ name: "x", context: { cluster: "c", user: "u" } }],
      "current-context": "x",
    }),
  );
  return { reviews, config };
}

const webhook = (name: string, config: string, more: object = {}): object => ({
  type: "Webhook",
  name,
  webhook: {
    timeout: "5s",
    subjectAccessReviewVersion: "v1",
    failurePolicy: "NoOpinion",
    cacheAuthorizedRequests: false,
    cacheUnauthorizedRequests: false,
    connectionInfo: { type: "KubeConfigFile", kubeConfigFile: config },
    ...more,
  },
});
const when = (expression: string): object => ({
  matchConditionSubjectAccessReviewVersion: "v1",
  matchConditions: [{ expression }],
});
const rbac = { type: "RBAC", name: "rbac" };

async function configured(...authorizers: object[]) {
  const file = join(folder, `${++files}.yaml`);
  const write = (list: readonly object[]): void =>
    writeFileSync(
      file,
      JSON.stringify({
        apiVersion: `apiserver.config.${dialect.wire.groupSuffix}/v1beta1`,
        kind: "AuthorizationConfiguration",
        authorizers: list,
      }),
    );
  write(authorizers);
  const clock = virtualClock(Date.now());
  const served = await serve({ flags: [`--authorization-config=${file}`], clock });
  const may = async (name: string, path = "/api/v1/namespaces/default/pods"): Promise<number> =>
    (await served.ask("GET", path, { trusted: { name, groups: ["system:authenticated"] } })).status;
  const until = async (holds: () => Promise<boolean>): Promise<void> => {
    while (!(await holds())) {
      await clock.advance(5000);
      await new Promise((resolve) => setImmediate(resolve));
    }
  };
  return { ...served, write, may, until };
}

test("webhooks are called in order for requests that match their conditions", async () => {
  const first = await service(({ spec }) => ({ allowed: spec.user === "ann", denied: spec.user === "bad" }));
  const second = await service(() => ({ allowed: true }));
  const { may } = await configured(
    webhook("first", first.config, when("has(request.resourceAttributes)")),
    webhook("second", second.config, {
      ...when("request.user == 'eve'"),
      subjectAccessReviewVersion: "v1beta1",
    }),
    rbac,
  );
  assert.deepEqual(await Promise.all([may("ann"), may("bad"), may("eve"), may("pat")]), [200, 403, 200, 403]);
  assert.deepEqual(
    second.reviews.map(({ apiVersion, spec }) => [apiVersion.split("/")[1], spec.user]),
    [["v1beta1", "eve"]],
  );
  const before = first.reviews.length;
  assert.equal(await may("ann", "/version"), 200);
  assert.equal(first.reviews.length, before);
});

test("a failing webhook is handled by its failure policy", async () => {
  const broken = await service(() => undefined);
  const lenient = await configured(webhook("w", broken.config), { type: "AlwaysAllow", name: "alwaysallow" });
  assert.equal(await lenient.may("ann"), 200);
  const strict = await configured(webhook("w", broken.config, { failurePolicy: "Deny" }), {
    type: "AlwaysAllow",
    name: "alwaysallow",
  });
  assert.equal(await strict.may("ann"), 500);
});

test("a changed file takes effect; one that removes or adds an authorizer type is rejected", async () => {
  const hook = await service(() => ({ allowed: true }));
  const { may, write, until, ask } = await configured(rbac);
  assert.equal(await may("ann"), 403);
  const ready = async (): Promise<boolean> =>
    !(await ask("GET", "/readyz?verbose")).text.includes("--authorization-config");
  write([webhook("w", hook.config), rbac]);
  await until(async () => (await may("ann")) === 200);
  for (const wrong of [[webhook("w", hook.config)], [rbac, { type: "AlwaysAllow", name: "alwaysallow" }]]) {
    write(wrong);
    await until(async () => !(await ready()));
    assert.equal(await may("ann"), 200);
    write([webhook("w", hook.config), rbac]);
    await until(ready);
  }
  write([rbac]);
  await until(async () => (await may("ann")) === 403);
});
