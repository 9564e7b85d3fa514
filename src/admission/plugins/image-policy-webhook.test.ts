import assert from "node:assert/strict";
import { test } from "node:test";
import { type ApiError, virtualClock } from "#base";
import { dialects } from "#dialect";
import { attributesOf, resultOrCode } from "../attributes.fixture.ts";
import { imagePolicyWebhook } from "./image-policy-webhook.ts";

const dialect = dialects.orch;
const apiVersion = `imagepolicy.${dialect.wire.groupSuffix}/v1alpha1`;
const ownAnnotation = `x.image-policy.${dialect.wire.groupSuffix}/y`;

function harness(status: object | Error, defaultAllow = false) {
  const sent: { spec: object }[] = [];
  const notes: Record<string, string> = {};
  const clock = virtualClock();
  const plugin = imagePolicyWebhook({
    webhook: {
      post: async (document) => {
        sent.push(JSON.parse(document) as (typeof sent)[number]);
        if (status instanceof Error) throw status;
        return JSON.stringify({ apiVersion, kind: "ImageReview", status });
      },
      close: () => undefined,
    },
    dialect,
    clock,
    allowMilliseconds: 1000,
    denyMilliseconds: 500,
    defaultAllow,
    onError: () => undefined,
  });
  const pod = {
    metadata: { annotations: { [ownAnnotation]: "1", other: "2" } },
    spec: {
      containers: [{ image: "a" }],
      initContainers: [{ image: "b" }],
      ephemeralContainers: [{ image: "c" }],
    },
  };
  const ask = async (subresource = "") => {
    const annotate = (key: string, value: string): void => void (notes[key] = value);
    return (await plugin.validate!(attributesOf({ object: pod, subresource, annotate }))).length;
  };
  const run = (subresource = "") => resultOrCode(() => ask(subresource));
  return { ask, run, pod, sent, notes, clock };
}

test("the review contains the images, the service's annotations and the namespace", async () => {
  const { run, sent } = harness({ allowed: true });
  assert.equal(await run(), 0);
  assert.equal(await run("ephemeralcontainers"), 0);
  assert.equal(await run("status"), 0);
  assert.deepEqual(
    sent.map(({ spec }) => spec),
    [
      { containers: [{ image: "a" }, { image: "b" }], annotations: { [ownAnnotation]: "1" }, namespace: "n" },
      { containers: [{ image: "c" }], annotations: { [ownAnnotation]: "1" }, namespace: "n" },
    ],
  );
});

test("a denial refuses the pod, and responses are cached for their time to live", async () => {
  const { run, sent, clock } = harness({ allowed: false, reason: "no" });
  assert.equal(await run(), "403");
  assert.equal(await run(), "403");
  assert.equal(sent.length, 1);
  await clock.advance(500);
  assert.equal(await run(), "403");
  assert.equal(sent.length, 2);
});

test("the refusal contains the reason, if there is one", async () => {
  const cases: [status: object | Error, text: string][] = [
    [{ allowed: false, reason: "no" }, "image policy webhook backend denied one or more images: no"],
    [{ allowed: false }, "one or more images rejected by webhook backend"],
    [new Error("down"), "down"],
  ];
  for (const [status, text] of cases)
    await assert.rejects(harness(status).ask(), (error: Error) =>
      error.message.endsWith(`is forbidden: ${text}`),
    );
});

test("if the service is unavailable the pod is refused, or admitted by default with an audit annotation", async () => {
  assert.equal(await harness(new Error("down")).run(), "403");
  const open = harness(new Error("down"), true);
  assert.equal(await open.run(), 0);
  assert.deepEqual(Object.entries(open.notes), [
    [`imagepolicywebhook.image-policy.${dialect.wire.groupSuffix}/failed-open`, "true"],
  ]);
});

test("audit annotations of the service get a prefix; those with a prefix are dropped", async () => {
  const { run, notes } = harness({ allowed: true, auditAnnotations: { verdict: "fine", "x/y": "z" } });
  await run();
  assert.deepEqual(
    Object.keys(notes).map((key) => key.split("/")[1]),
    ["verdict"],
  );
});

test("a 403 of the service is passed on as it is", async () => {
  const { ask } = harness(Object.assign(new Error("unknown"), { status: 403 }));
  await assert.rejects(ask(), (error: ApiError) => {
    assert.deepEqual(
      [error.code, error.message, error.details],
      [403, "unknown", { causes: [{ message: "unknown", reason: "UnexpectedServerResponse" }] }],
    );
    return true;
  });
});
