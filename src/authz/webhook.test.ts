import assert from "node:assert/strict";
import { test } from "node:test";
import { virtualClock } from "#base";
import { dialects } from "#dialect";
import {
  type Attributes,
  type Authorizer,
  type Decision,
  alwaysAllow,
  alwaysDeny,
  authorizerOf,
} from "./authorizer.ts";
import { selectorsOf } from "./selectors.ts";
import { type WebhookAuthorizerOptions, webhookAuthorizer } from "./webhook.ts";

const dialect = dialects.orch;

function harness(
  answer: object | Error,
  version: "v1" | "v1beta1" = "v1",
  more: Partial<WebhookAuthorizerOptions> = {},
) {
  const apiVersion = `authorization.${dialect.wire.groupSuffix}/${version}`;
  const clock = virtualClock();
  const sent: { spec: Record<string, unknown> }[] = [];
  const authorizer = webhookAuthorizer({
    webhook: {
      post: async (document) => {
        sent.push(JSON.parse(document) as (typeof sent)[number]);
        if (answer instanceof Error) throw answer;
        return JSON.stringify({ apiVersion, kind: "SubjectAccessReview", status: answer });
      },
      close: () => undefined,
    },
    version,
    dialect,
    clock,
    authorizedMilliseconds: 1000,
    unauthorizedMilliseconds: 500,
    onError: () => undefined,
    ...more,
  });
  return { authorizer, sent, clock };
}
const user = { name: "ann", uid: "u", groups: ["dev"], extra: { scope: ["x"] } };
const get: Attributes = {
  user,
  verb: "get",
  resource: { group: "", version: "v1", resource: "pods", subresource: "log", namespace: "n", name: "p" },
};
const decide = async (authorizer: Authorizer, attributes = get): Promise<Decision> =>
  await authorizer.decide(attributes);

test("a review contains the action without empty fields; versions name groups differently", async () => {
  for (const [version, groups] of [
    ["v1", "groups"],
    ["v1beta1", "group"],
  ] as const) {
    const { authorizer, sent } = harness({ allowed: true }, version);
    await decide(authorizer);
    await decide(authorizer, { user: { name: "bob", groups: [] }, verb: "get", path: "/x" });
    assert.deepEqual(
      sent.map(({ spec }) => spec),
      [
        {
          resourceAttributes: {
            namespace: "n",
            verb: "get",
            version: "v1",
            resource: "pods",
            subresource: "log",
            name: "p",
          },
          user: "ann",
          [groups]: ["dev"],
          extra: { scope: ["x"] },
          uid: "u",
        },
        { nonResourceAttributes: { path: "/x", verb: "get" }, user: "bob" },
      ],
    );
  }
});

const answers: [name: string, answer: object | Error, verdict: Decision["verdict"], internal: boolean][] = [
  ["yes", { allowed: true, reason: "r" }, "allow", false],
  ["no opinion", { allowed: false }, "no opinion", false],
  ["no", { denied: true }, "deny", false],
  ["both", { allowed: true, denied: true }, "deny", true],
  ["an evaluation error", { allowed: false, evaluationError: "hm" }, "no opinion", false],
  ["a failure", new Error("down"), "no opinion", true],
];
for (const [name, answer, verdict, internal] of answers)
  test(`the webhook responds with ${name}`, async () => {
    const decision = await decide(harness(answer).authorizer);
    assert.deepEqual([decision.verdict, decision.internalError !== undefined], [verdict, internal]);
    assert.equal(decision.error, decision.internalError);
  });

test("a failure is overridden by a later authorizer, and reported when none allows", async () => {
  const { authorizer } = harness(new Error("down"));
  assert.equal((await decide(authorizerOf([authorizer, alwaysAllow]))).verdict, "allow");
  assert.match((await decide(authorizerOf([authorizer, alwaysDeny]))).internalError ?? "", /down/);
});

test("responses are cached for their duration, failures are not", async () => {
  const { authorizer, sent, clock } = harness({ allowed: true });
  await Promise.all([decide(authorizer), decide(authorizer)]);
  await clock.advance(999);
  await decide(authorizer);
  assert.equal(sent.length, 1);
  await clock.advance(1);
  await decide(authorizer);
  assert.equal(sent.length, 2);
  const odd = harness({ allowed: true, denied: true });
  await decide(odd.authorizer);
  assert.equal(
    (await decide(odd.authorizer)).internalError,
    "webhook subject access review returned both allow and deny response",
  );
  assert.equal(odd.sent.length, 1);
  const failing = harness(new Error("down"));
  await decide(failing.authorizer);
  await decide(failing.authorizer);
  assert.equal(failing.sent.length, 2);
});

test("the masters group is never sent to the webhook", async () => {
  const { authorizer, sent } = harness({ denied: true });
  const masters = { ...get, user: { name: "root", groups: ["system:masters"] } };
  assert.equal((await decide(authorizerOf([authorizer]), masters)).verdict, "allow");
  assert.equal(sent.length, 0);
});

test("a webhook that does not match has no opinion; failing conditions follow its failure policy", async () => {
  const gone = new Error("gone");
  const cases: [WebhookAuthorizerOptions["matches"], object | Error, Decision["verdict"], string?][] = [
    [() => false, { allowed: true }, "no opinion"],
    [() => true, { allowed: true }, "allow"],
    [() => ({ error: "bad" }), { allowed: true }, "deny", "bad"],
    [() => true, gone, "deny", "gone"],
  ];
  for (const [matches, answer, verdict, error] of cases) {
    const { authorizer, sent } = harness(answer, "v1", { matches, failurePolicy: "Deny" });
    const decision = await decide(authorizer);
    assert.deepEqual([decision.verdict, decision.internalError], [verdict, error]);
    assert.equal(sent.length, matches!(get) === true ? 1 : 0);
  }
  const { authorizer } = harness(gone, "v1", { failurePolicy: "NoOpinion" });
  assert.equal((await decide(authorizer)).verdict, "no opinion");
});

test("a cached response expires in time although the machine's clock is set back", async () => {
  const { authorizer, sent, clock } = harness({ allowed: true });
  await decide(authorizer);
  clock.set(clock.now() - 3_600_000);
  await clock.advance(1001);
  await decide(authorizer);
  assert.equal(sent.length, 2);
});

test("a review contains the requirements of selectors that reviews have operators for", async () => {
  const { authorizer, sent } = harness({ allowed: true });
  const list = { ...get, verb: "list", selectors: selectorsOf("spec.nodeName=n1,a!=b", "x in (1,2),!y,z>3") };
  await decide(authorizer, list);
  await decide(authorizer, { ...list, selectors: selectorsOf("", "z>3") });
  const [first, second] = sent.map(({ spec }) => spec["resourceAttributes"] as Record<string, unknown>);
  assert.deepEqual(first!["fieldSelector"], {
    requirements: [
      { key: "spec.nodeName", operator: "In", values: ["n1"] },
      { key: "a", operator: "NotIn", values: ["b"] },
    ],
  });
  assert.deepEqual(first!["labelSelector"], {
    requirements: [
      { key: "x", operator: "In", values: ["1", "2"] },
      { key: "y", operator: "DoesNotExist" },
    ],
  });
  assert.equal(second!["labelSelector"], undefined);
});
