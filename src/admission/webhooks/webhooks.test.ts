import assert from "node:assert/strict";
import { test } from "node:test";
import { endSlices } from "#kit";
import type { MutatingWebhook, ValidatingWebhook } from "#api";
import { ApiError } from "#base";
import { Span } from "#tracing";
import type { AdmissionAttributes } from "../attributes.ts";
import { attributesOf } from "../attributes.fixture.ts";
import { admissionChain } from "../chain.ts";
import { mutatingWebhooks } from "./mutating.ts";
import { validatingWebhooks } from "./validating.ts";
import {
  type Received,
  type Respond,
  configurationOf,
  hook,
  label,
  patched,
  pod,
  rule,
  world,
} from "./webhooks.fixture.ts";

async function validate(
  webhooks: readonly ValidatingWebhook[],
  respond: Respond,
  given: Partial<AdmissionAttributes> = {},
): Promise<{ received: Received[]; refused?: ApiError; exposed: string }> {
  const { received, options, metrics } = world(respond);
  const plugin = validatingWebhooks({ ...options, configurations: () => [configurationOf(webhooks)] });
  try {
    await plugin.validate!(attributesOf({ object: pod(), ...given }));
    return { received, exposed: metrics.expose() };
  } catch (error) {
    assert.ok(error instanceof ApiError, String(error));
    return { received, refused: error, exposed: metrics.expose() };
  }
}

const allow: Respond = () => ({ allowed: true });

const reach: [
  name: string,
  webhook: Partial<MutatingWebhook>,
  given: Partial<AdmissionAttributes>,
  received: boolean,
][] = [
  ["a wildcard matches everything", {}, {}, true],
  ["another operation does not match", { rules: [{ ...rule, operations: ["DELETE"] }] }, {}, false],
  ["another group does not match", { rules: [{ ...rule, apiGroups: ["apps"] }] }, {}, false],
  [
    "a resource does not match its subresources",
    { rules: [{ ...rule, resources: ["pods"] }] },
    { subresource: "status" },
    false,
  ],
  [
    "a wildcard resource with a subresource matches",
    { rules: [{ ...rule, resources: ["*/status"] }] },
    { subresource: "status" },
    true,
  ],
  ["scope Cluster does not match namespaced objects", { rules: [{ ...rule, scope: "Cluster" }] }, {}, false],
  ["the namespace selector must match", { namespaceSelector: { matchLabels: { team: "b" } } }, {}, false],
  [
    "cluster-scoped requests match any namespace selector",
    { namespaceSelector: { matchLabels: { team: "b" } } },
    { namespace: "" },
    true,
  ],
  ["the object selector must match", { objectSelector: { matchLabels: { app: "db" } } }, {}, false],
  [
    "the labels of the old object match as well",
    { objectSelector: { matchLabels: { app: "db" } } },
    { oldObject: { metadata: { labels: { app: "db" } } } },
    true,
  ],
  [
    "a false condition skips the webhook",
    { matchConditions: [{ name: "c", expression: "object.metadata.name == 'q'" }] },
    {},
    false,
  ],
  [
    "a true condition calls the webhook",
    { matchConditions: [{ name: "c", expression: "request.userInfo.username == 'u'" }] },
    {},
    true,
  ],
  [
    "a false condition takes precedence over a failing one",
    {
      matchConditions: [
        { name: "a", expression: "object.absent == 1" },
        { name: "b", expression: "false" },
      ],
    },
    {},
    false,
  ],
  [
    "a failing condition skips an Ignore webhook",
    { failurePolicy: "Ignore", matchConditions: [{ name: "a", expression: "object.absent == 1" }] },
    {},
    false,
  ],
  [
    "webhook configurations are never intercepted",
    {},
    {
      requestKind: {
        group: "admissionregistration.example",
        version: "v1",
        kind: "MutatingWebhookConfiguration",
      },
    },
    false,
  ],
];
for (const [name, webhook, given, expected] of reach) {
  test(name, async () => {
    const { received, refused } = await validate([hook("v", webhook)], allow, given);
    assert.equal(refused, undefined);
    assert.equal(received.length > 0, expected);
  });
}

const outcomes: [
  name: string,
  webhook: Partial<MutatingWebhook>,
  respond: Respond,
  code: number,
  message: RegExp,
][] = [
  [
    "a denial without explanation has code 400",
    {},
    () => ({ allowed: false }),
    400,
    /admission webhook "v\.example\.com" denied the request without explanation/,
  ],
  [
    "a denial has the given code and message",
    {},
    () => ({ allowed: false, status: { code: 418, message: "no", reason: "Teapot" } }),
    418,
    /denied the request: no/,
  ],
  [
    "a success code of a denial becomes 400",
    {},
    () => ({ allowed: false, status: { code: 200 } }),
    400,
    /without explanation/,
  ],
  [
    "the reason is used without a message",
    {},
    () => ({ allowed: false, status: { code: 403, reason: "Nope" } }),
    403,
    /denied the request: Nope/,
  ],
  [
    "a failed call is an internal error",
    {},
    () => new Error("refused"),
    500,
    /Internal error occurred: failed calling webhook "v\.example\.com": failed to call webhook: refused/,
  ],
  ["an error status is an internal error", {}, () => ({ status: 503 }), 500, /failed to call webhook/],
  [
    "another uid is an internal error",
    {},
    () => ({ uid: "x", allowed: true }),
    500,
    /expected response\.uid=/,
  ],
  [
    "a patch from a validating webhook is an internal error",
    {},
    () => ({ allowed: true, patch: "W10=" }),
    500,
    /validating webhook may not return response\.patch/,
  ],
  [
    "unknown review versions are an internal error",
    { admissionReviewVersions: ["v7"] },
    allow,
    500,
    /does not accept known AdmissionReview versions/,
  ],
  [
    "a failing condition of a Fail webhook is a 403",
    { matchConditions: [{ name: "a", expression: "object.absent == 1" }] },
    allow,
    403,
    /no such key: absent/,
  ],
];
for (const [name, webhook, respond, code, message] of outcomes) {
  test(name, async () => {
    const { refused } = await validate([hook("v", webhook)], respond);
    assert.equal(refused?.code, code);
    assert.match(refused.message, message);
  });
}

test("an ignored failure adds an annotation and the request passes", async () => {
  const notes: string[] = [];
  const { refused, exposed } = await validate(
    [hook("v", { failurePolicy: "Ignore" })],
    () => new Error("gone"),
    {
      annotate: (key, value) => notes.push(`${key}=${value}`),
    },
  );
  assert.equal(refused, undefined);
  assert.deepEqual(notes, ["failed-open/round_0_index_0=v.example.com"]);
  assert.match(
    exposed,
    /apiserver_admission_webhook_fail_open_count\{name="v\.example\.com",type="validating"\} 1/,
  );
});

test("validating webhooks share a copy of the object, and other work runs between their calls", async (t) => {
  const turns = endSlices(t);
  let copies = 0;
  const versioned = () => {
    copies += 1;
    return { object: pod(), oldObject: undefined };
  };
  const matchConditions = [{ name: "c", expression: "object.kind == 'Pod'" }];
  const hooks = ["a", "b", "c", "d"].map((name) => hook(name, { matchConditions }));
  const { received } = await validate(hooks, allow, { versioned });
  assert.deepEqual([received.length, copies], [4, 1]);
  assert.ok(turns() >= 6);
});

test("a refusal while others are still to be called is reported after all responses", async (t) => {
  let now = 0;
  t.mock.method(performance, "now", () => (now += 10));
  const deny: Respond = ({ path }) => ({ allowed: path !== "/a" });
  const { received, refused } = await validate([hook("a"), hook("b")], deny);
  assert.deepEqual([received.length, refused?.code], [2, 400]);
});

test("a dry run does not call webhooks with side effects", async () => {
  const { refused, received } = await validate([hook("v", { sideEffects: "Some" })], allow, { dryRun: true });
  assert.equal(refused?.code, 400);
  assert.match(refused.message, /does not support dry run/);
  assert.equal(received.length, 0);
});

test("an equivalent resource matches, unless the match policy is Exact", async () => {
  const beta = {
    resource: { group: "", version: "v2", resource: "pods" },
    kind: { group: "", version: "v2", kind: "Pod" },
  };
  const rules = [{ ...rule, apiVersions: ["v2"] }];
  const equivalents = [beta];
  const { received } = await validate([hook("v", { rules })], allow, { equivalents });
  assert.deepEqual(received[0]?.request["kind"], beta.kind);
  assert.deepEqual(received[0].request["requestKind"], { group: "", version: "v1", kind: "Pod" });
  const exact = await validate([hook("v", { rules, matchPolicy: "Exact" })], allow, { equivalents });
  assert.equal(exact.received.length, 0);
});

test("the review describes the request and omits empty fields", async () => {
  const { received } = await validate([hook("v")], allow, {
    user: { name: "alice", uid: "1", groups: ["dev"], extra: { k: ["v"] } },
    namespace: "",
  });
  const { uid: _uid, ...request } = received[0]!.request;
  assert.deepEqual(request, {
    kind: { group: "", version: "v1", kind: "Pod" },
    resource: { group: "", version: "v1", resource: "pods" },
    requestKind: { group: "", version: "v1", kind: "Pod" },
    requestResource: { group: "", version: "v1", resource: "pods" },
    name: "p",
    operation: "CREATE",
    userInfo: { username: "alice", uid: "1", groups: ["dev"], extra: { k: ["v"] } },
    dryRun: false,
    options: null,
    object: pod(),
    oldObject: null,
  });
});

async function mutate(webhooks: readonly MutatingWebhook[], respond: Respond) {
  const { received, options } = world(respond);
  const plugin = mutatingWebhooks({ ...options, configurations: () => [configurationOf(webhooks)] });
  const object = pod();
  await admissionChain([plugin]).mutate(attributesOf({ object }));
  return { paths: received.map(({ path }) => path), labels: Object.keys(object.metadata.labels) };
}

test("webhooks are called in order and each sees the changes of the others", async () => {
  const { paths, labels } = await mutate([hook("b"), hook("a")], ({ path }) => label(path.slice(1)));
  assert.deepEqual(paths, ["/b", "/a"]);
  assert.deepEqual(labels, ["app", "b", "a"]);
});

test("the audit event shows patches from level Request, with the keys of operations in order", async () => {
  const notes: unknown[][] = [];
  const { options } = world(() => label("x"));
  const plugin = mutatingWebhooks({ ...options, configurations: () => [configurationOf([hook("a")])] });
  const annotate = (...note: unknown[]) => void notes.push(note);
  await admissionChain([plugin]).mutate(attributesOf({ object: pod(), annotate }));
  const named = '{"configuration":"c","webhook":"a.example.com",';
  const operation = '{"op":"add","path":"/metadata/labels/x","value":"1"}';
  assert.deepEqual(notes, [
    ["patch/round_0_index_0", `${named}"patch":[${operation}],"patchType":"JSONPatch"}`, "Request"],
    ["mutation/round_0_index_0", `${named}"mutated":true}`],
  ]);
});

test("a webhook with reinvocation is called again after a later one changed the object", async () => {
  const first = hook("a", { reinvocationPolicy: "IfNeeded" });
  const { paths } = await mutate([first, hook("b")], ({ path }) => label(path.slice(1)));
  assert.deepEqual(paths, ["/a", "/b", "/a"]);
});

test("no webhook is called again when later ones changed nothing", async () => {
  const first = hook("a", { reinvocationPolicy: "IfNeeded" });
  const { paths } = await mutate([first, hook("b")], ({ path }) =>
    path === "/a" ? label("a") : { allowed: true },
  );
  assert.deepEqual(paths, ["/a", "/b"]);
});

const badPatches: [name: string, answer: Record<string, unknown>, message: RegExp][] = [
  ["a patch that does not apply", patched({ op: "remove", path: "/spec/none" }), /Internal error occurred/],
  [
    "a patch that is not a list",
    { ...patched(), patch: Buffer.from("{}").toString("base64") },
    /cannot unmarshal object into Go value of type jsonpatch.Patch/,
  ],
  [
    "a patch that changes the kind",
    patched({ op: "replace", path: "/kind", value: "Secret" }),
    /may not make a Secret/,
  ],
  [
    "a patch without its type",
    { allowed: true, patch: "W10=" },
    /response\.patch but not response\.patchType/,
  ],
  [
    "a type without a patch",
    { allowed: true, patchType: "JSONPatch" },
    /response\.patchType but not response\.patch/,
  ],
  [
    "a patch of another type",
    { ...patched({ op: "remove", path: "/spec" }), patchType: "Foo" },
    /failed calling webhook "a.example.com": unsupported patch type "Foo"/,
  ],
  ["a patch that is not base64", { ...patched(), patch: "!!" }, /illegal base64 data at input byte 0/],
];
for (const [name, answer, message] of badPatches) {
  test(`${name} is an internal error`, async () => {
    await assert.rejects(
      () => mutate([hook("a")], () => answer),
      (error) => error instanceof ApiError && error.code === 500 && message.test(error.message),
    );
  });
}

test("an unsupported patch type without changes is ignored", async () => {
  await mutate([hook("a")], () => ({ allowed: true, patch: "W10=", patchType: "Foo" }));
});

test("the call of a webhook is a child span, and its request carries the trace context", async () => {
  const ended: Span[] = [];
  const parents: (Span | undefined)[] = [];
  const trace = { traceId: "a".repeat(32), ended: (span: Span) => void ended.push(span) };
  const operation = new Span("Create", {}, { trace });
  const { options } = world(() => ({ allowed: true }));
  const plugin = validatingWebhooks({
    ...options,
    post: (client, body, seconds, span) => {
      parents.push(span);
      return options.post(client, body, seconds, span);
    },
    configurations: () => [configurationOf([hook("a")])],
  });
  await admissionChain([plugin]).validate(attributesOf({ object: pod(), span: operation }));
  assert.deepEqual(
    ended.map(({ name, parentId }) => [name, parentId]),
    [["Call validating webhook", operation.id]],
  );
  assert.equal(parents[0], ended[0]);
  const { UID, ...attributes } = ended[0]!.attributes;
  assert.match(String(UID), /^[0-9a-f-]{36}$/);
  assert.deepEqual(Object.keys(attributes), [
    "configuration",
    "webhook",
    "resource",
    "subresource",
    "operation",
  ]);
});

for (const [name, timeoutSeconds, left, given] of [
  ["its timeout", 3, 60_000, 3000],
  ["the deadline of the request", 20, 7500, 7500],
] as const)
  test(`a webhook may take no longer than ${name}`, async () => {
    const { options } = world(allow);
    const limits: number[] = [];
    const plugin = validatingWebhooks({
      ...options,
      post: (client, body, limit, span) => {
        limits.push(limit);
        return options.post(client, body, limit, span);
      },
      configurations: () => [configurationOf([hook("a", { timeoutSeconds })])],
    });
    await plugin.validate!(attributesOf({ object: pod(), deadline: options.clock.now() + left }));
    assert.deepEqual(limits, [given]);
  });

test("a request fails after its deadline even if the failure is ignored", async () => {
  const late = await validate([hook("a", { failurePolicy: "Ignore" })], allow, { deadline: 0 });
  assert.deepEqual([late.received, late.refused?.code], [[], 504]);
});
