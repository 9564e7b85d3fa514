import assert from "node:assert/strict";
import { after, test } from "node:test";
import type { TrustedCaller } from "#http";
import { type RunningServer, startServer } from "../../library.ts";

const bob = { name: "bob", groups: ["system:authenticated"] };
const core = "/api/v1/namespaces/default";
const roles = "/apis/rbac.authorization.orch.io/v1";

interface Answer {
  readonly status: number;
  // Responses differ in type; each test knows which one it expects.
  readonly body: Record<string, never> & {
    reason?: string;
    status?: never;
    details?: { kind?: string; causes?: { reason: string }[] };
  };
  readonly headers: Readonly<Record<string, string | readonly string[]>>;
}

async function send(
  server: RunningServer,
  method: string,
  path: string,
  body?: object,
  as?: TrustedCaller,
): Promise<Answer> {
  const got = await server.inject({
    method,
    path,
    ...(body && { body: JSON.stringify(body) }),
    ...(as && { trusted: as }),
    headers: method === "PATCH" ? { "content-type": "application/merge-patch+json" } : {},
  });
  const text = await got.text();
  return { status: got.status, body: (text ? JSON.parse(text) : {}) as Answer["body"], headers: got.headers };
}

// Tests share a server, which is reset at the beginning of each.
const shared = await startServer({ store: "memory" });
after(() => shared.stop());
const clean = await shared.kit.snapshot();
async function asNew(): Promise<RunningServer> {
  await shared.kit.rewind(clean);
  return { ...shared, [Symbol.asyncDispose]: () => Promise.resolve() };
}

/** Starts a server with a service account and one pod, on a node if one is given. */
async function withPod(nodeName?: string, ...flags: string[]): Promise<RunningServer> {
  const server = flags.length > 0 ? await startServer({ store: "memory", flags }) : await asNew();
  await send(server, "POST", `${core}/serviceaccounts`, { metadata: { name: "default" } });
  const made = await send(server, "POST", `${core}/pods`, {
    metadata: { name: "p", labels: { app: "x" } },
    spec: { containers: [{ name: "c", image: "i" }], ...(nodeName && { nodeName }) },
  });
  assert.equal(made.status, 201);
  return server;
}

const bindings: [name: string, path: string, body: object, status: number, reason: string | undefined][] = [
  [
    "a pod can be bound once",
    "pods/p/binding",
    { metadata: { name: "p" }, target: { name: "n1" } },
    201,
    undefined,
  ],
  [
    "the deprecated path binds, too",
    "bindings",
    { metadata: { name: "p" }, target: { kind: "Node", name: "n1" } },
    201,
    undefined,
  ],
  [
    "a binding names its pod",
    "pods/p/binding",
    { metadata: { name: "q" }, target: { name: "n1" } },
    400,
    "BadRequest",
  ],
  ["a binding has a target", "pods/p/binding", { metadata: { name: "p" } }, 422, "Invalid"],
  [
    "a target is a node",
    "pods/p/binding",
    { metadata: { name: "p" }, target: { kind: "Pod", name: "x" } },
    422,
    "Invalid",
  ],
  [
    "a binding may have a UID precondition",
    "pods/p/binding",
    { metadata: { name: "p", uid: "other" }, target: { name: "n1" } },
    409,
    "Conflict",
  ],
  [
    "a missing pod cannot be bound",
    "pods/none/binding",
    { metadata: { name: "none" }, target: { name: "n1" } },
    404,
    "NotFound",
  ],
];
for (const [name, path, body, status, reason] of bindings) {
  test(name, async () => {
    await using server = await withPod();
    const got = await send(server, "POST", `${core}/${path}`, body);
    assert.deepEqual([got.status, got.body.reason], [status, reason]);
    const after = (await send(server, "GET", `${core}/pods/p`)).body as unknown as {
      spec: { nodeName?: string };
      status: { conditions?: { type: string; status: string }[] };
    };
    assert.equal(after.spec.nodeName, status === 201 ? "n1" : undefined);
    assert.deepEqual(
      after.status.conditions?.map(({ type, status: is }) => `${type}=${is}`),
      status === 201 ? ["PodScheduled=True"] : undefined,
    );
    if (status === 201) assert.equal((await send(server, "POST", `${core}/${path}`, body)).status, 409);
  });
}

test("a dry run binds nothing", async () => {
  await using server = await withPod();
  assert.equal(
    (
      await send(server, "POST", `${core}/pods/p/binding?dryRun=All`, {
        metadata: { name: "p" },
        target: { name: "n1" },
      })
    ).status,
    201,
  );
  assert.equal(
    ((await send(server, "GET", `${core}/pods/p`)).body as unknown as { spec: { nodeName?: string } }).spec
      .nodeName,
    undefined,
  );
});

const budgets = "/apis/policy/v1/namespaces/default/poddisruptionbudgets";
test("without the feature gate an evicted pod has no disruption condition", async () => {
  await using server = await withPod("n1", "--feature-gates=PodDisruptionConditions=false");
  const evicted = await send(server, "POST", `${core}/pods/p/eviction`, { metadata: { name: "p" } });
  assert.equal(evicted.status, 201);
  const { metadata, status } = (await send(server, "GET", `${core}/pods/p`)).body as unknown as {
    metadata: { deletionTimestamp?: string };
    status: { conditions?: unknown[] };
  };
  assert.ok(metadata.deletionTimestamp);
  assert.equal(status.conditions, undefined);
});

const evictions: [
  name: string,
  ready: boolean,
  budget: object | undefined,
  status: number,
  left: number | undefined,
][] = [
  ["without a budget a pod is evicted", true, undefined, 201, undefined],
  ["a budget without observed status blocks evictions", true, { disruptionsAllowed: 1 }, 429, 1],
  ["an exhausted budget blocks evictions", true, { observedGeneration: 1, disruptionsAllowed: 0 }, 429, 0],
  ["an eviction decrements the budget", true, { observedGeneration: 1, disruptionsAllowed: 1 }, 201, 0],
  [
    "an unready pod does not use the budget if enough others are healthy",
    false,
    { observedGeneration: 1, disruptionsAllowed: 0, currentHealthy: 2, desiredHealthy: 2 },
    201,
    0,
  ],
  [
    "an unready pod uses the budget if too few others are healthy",
    false,
    { observedGeneration: 1, disruptionsAllowed: 0, currentHealthy: 1, desiredHealthy: 2 },
    429,
    0,
  ],
];
for (const [name, ready, budget, status, left] of evictions) {
  test(name, async () => {
    await using server = await withPod("n1");
    await send(server, "PATCH", `${core}/pods/p/status`, {
      status: { phase: "Running", conditions: [{ type: "Ready", status: ready ? "True" : "False" }] },
    });
    if (budget) {
      await send(server, "POST", budgets, {
        metadata: { name: "b" },
        spec: { minAvailable: 1, selector: { matchLabels: { app: "x" } } },
      });
      await send(server, "PATCH", `${budgets}/b/status`, {
        status: { currentHealthy: 0, desiredHealthy: 0, expectedPods: 0, ...budget },
      });
    }
    const got = await send(server, "POST", `${core}/pods/p/eviction`, { metadata: { name: "p" } });
    assert.equal(got.status, status);
    if (status === 429)
      assert.deepEqual(
        got.body.details?.causes?.map(({ reason }) => reason),
        ["DisruptionBudget"],
      );
    const pod = (await send(server, "GET", `${core}/pods/p`)).body as unknown as {
      metadata: { deletionTimestamp?: string };
      status: { conditions: { type: string }[] };
    };
    assert.equal(pod.metadata.deletionTimestamp !== undefined, status === 201);
    assert.equal(
      pod.status.conditions.some(({ type }) => type === "DisruptionTarget"),
      status === 201,
    );
    if (budget)
      assert.equal(
        (
          (await send(server, "GET", `${budgets}/b`)).body as unknown as {
            status: { disruptionsAllowed: number };
          }
        ).status.disruptionsAllowed,
        left,
      );
  });
}

const oddEvictions: [name: string, deleteOptions: object, message: RegExp][] = [
  [
    "delete options of an eviction are validated",
    { propagationPolicy: "X" },
    /^DeleteOptions\.meta\.orch\.io "" is invalid: propagationPolicy: Unsupported value: "X"/,
  ],
  [
    "a dry-run eviction requires a valid dryRun value",
    { dryRun: ["x"] },
    /^DeleteOptions\.meta\.orch\.io "" is invalid: dryRun: Unsupported value: \[\]string\{"x"\}/,
  ],
];
for (const [name, deleteOptions, message] of oddEvictions) {
  test(name, async () => {
    await using server = await withPod("n1");
    const got = await send(server, "POST", `${core}/pods/p/eviction`, {
      metadata: { name: "p" },
      deleteOptions,
    });
    assert.equal(got.status, 422);
    assert.match(got.body.message ?? "", message);
    assert.equal(
      (await send(server, "POST", `${core}/pods/q/eviction`, { metadata: { name: "q" }, deleteOptions }))
        .status,
      404,
    );
    assert.equal((await send(server, "GET", `${core}/pods/p`)).status, 200);
  });
}

test("a pod covered by two budgets cannot be evicted", async () => {
  await using server = await withPod("n1");
  await send(server, "PATCH", `${core}/pods/p/status`, { status: { phase: "Running" } });
  for (const name of ["a", "b"])
    await send(server, "POST", budgets, { metadata: { name }, spec: { minAvailable: 1, selector: {} } });
  assert.equal(
    (await send(server, "POST", `${core}/pods/p/eviction`, { metadata: { name: "p" } })).status,
    409,
  );
});

test("a token authenticates its service account until the account is deleted", async () => {
  await using server = await withPod("n1");
  const ask = (body: object) => send(server, "POST", `${core}/serviceaccounts/default/token`, body);
  const bound = await ask({
    spec: { expirationSeconds: 700, boundObjectRef: { kind: "Pod", apiVersion: "v1", name: "p" } },
  });
  assert.equal(bound.status, 201);
  const { token } = bound.body.status as unknown as { token: string };
  const review = async () =>
    (await send(server, "POST", "/apis/authentication.orch.io/v1/tokenreviews", { spec: { token } })).body
      .status as unknown as {
      authenticated?: boolean;
      user: { username?: string; extra?: object };
    };
  const before = await review();
  assert.deepEqual(
    [before.authenticated, before.user.username],
    [true, "system:serviceaccount:default:default"],
  );
  assert.deepEqual(Object.keys(before.user.extra ?? {}), [
    "authentication.orch.io/pod-name",
    "authentication.orch.io/pod-uid",
  ]);
  await send(server, "DELETE", `${core}/serviceaccounts/default`);
  assert.equal((await review()).authenticated, undefined);
  assert.equal((await ask({})).status, 404);
});

test("token verification documents are published", async () => {
  await using server = await asNew();
  const configuration = await send(server, "GET", "/.well-known/openid-configuration");
  assert.equal((configuration.body as unknown as { issuer: string }).issuer, "https://local.invalid");
  const keys = await send(server, "GET", "/openid/v1/jwks");
  assert.deepEqual(
    [keys.headers["content-type"], (keys.body as unknown as { keys: object[] }).keys.length],
    ["application/jwk-set+json", 1],
  );
});

const reviews: [
  name: string,
  path: string,
  spec: object,
  as: TrustedCaller | undefined,
  expected: [status: number, allowed: boolean | undefined],
][] = [
  [
    "an administrator is allowed",
    "selfsubjectaccessreviews",
    { resourceAttributes: { verb: "get", resource: "pods" } },
    undefined,
    [201, true],
  ],
  [
    "an unauthorized user is denied",
    "selfsubjectaccessreviews",
    { resourceAttributes: { verb: "get", resource: "pods" } },
    bob,
    [201, false],
  ],
  [
    "access of another user can be reviewed",
    "subjectaccessreviews",
    { user: "x", groups: ["system:masters"], resourceAttributes: { verb: "get", resource: "pods" } },
    undefined,
    [201, true],
  ],
  [
    "reviewing other users requires permission",
    "subjectaccessreviews",
    { user: "x", resourceAttributes: { verb: "get" } },
    bob,
    [403, undefined],
  ],
  [
    "a review requires exactly one kind of attributes",
    "subjectaccessreviews",
    { user: "x" },
    undefined,
    [422, undefined],
  ],
];
for (const [name, path, spec, as, expected] of reviews) {
  test(name, async () => {
    await using server = await asNew();
    const got = await send(server, "POST", `/apis/authorization.orch.io/v1/${path}`, { spec }, as);
    assert.deepEqual([got.status, (got.body.status as unknown as { allowed?: boolean }).allowed], expected);
  });
}

test("users cannot grant permissions that they do not hold", async () => {
  await using server = await asNew();
  const rule = (verbs: string[], resources: string[], apiGroups = [""]) => ({ verbs, resources, apiGroups });
  const group = "rbac.authorization.orch.io";
  await send(server, "POST", `${roles}/clusterroles`, {
    metadata: { name: "author" },
    rules: [rule(["create", "update", "get"], ["roles", "rolebindings"], [group]), rule(["get"], ["pods"])],
  });
  await send(server, "POST", `${roles}/clusterrolebindings`, {
    metadata: { name: "author" },
    roleRef: { apiGroup: group, kind: "ClusterRole", name: "author" },
    subjects: [{ kind: "User", apiGroup: group, name: "bob" }],
  });
  const role = (name: string, verbs: string[]) =>
    send(
      server,
      "POST",
      `${roles}/namespaces/default/roles`,
      { metadata: { name }, rules: [rule(verbs, ["pods"])] },
      bob,
    );
  assert.equal((await role("own", ["get"])).status, 201);
  assert.equal((await role("more", ["get", "delete"])).status, 403);
  const bind = (kind: string, name: string) =>
    send(
      server,
      "POST",
      `${roles}/namespaces/default/rolebindings`,
      {
        metadata: { name: `${kind.toLowerCase()}-${name}` },
        roleRef: { apiGroup: group, kind, name },
        subjects: [],
      },
      bob,
    );
  assert.equal((await bind("Role", "own")).status, 201);
  assert.equal((await bind("ClusterRole", "cluster-admin")).status, 403);
});

test("review resources support only create", async () => {
  await using server = await withPod();
  for (const path of [
    `${core}/pods/p/binding`,
    `${core}/pods/p/eviction`,
    `${core}/serviceaccounts/default/token`,
    "/apis/authorization.orch.io/v1/selfsubjectaccessreviews",
  ]) {
    assert.equal((await send(server, "GET", path)).status, 405, path);
    assert.equal((await send(server, "POST", `${path}/more`, {})).status, 404, path);
  }
});

test("evictions and token requests pass admission before validation", async () => {
  await using server = await withPod("n1", "--enable-admission-plugins=NodeRestriction");
  const node = { name: "system:node:n2", groups: ["system:nodes", "system:masters"] };
  const found = await send(server, "GET", `${core}/pods/p`);
  const { uid } = found.body["metadata"] as unknown as { uid: string };
  const unnamed = await send(server, "POST", `${core}/pods/p/eviction`, {}, node);
  assert.equal(unnamed.status, 403);
  assert.equal((await send(server, "POST", `${core}/pods/p/eviction`, {})).status, 400);
  const spec = { expirationSeconds: 5, boundObjectRef: { apiVersion: "v1", kind: "Pod", name: "p", uid } };
  const token = `${core}/serviceaccounts/default/token`;
  assert.equal((await send(server, "POST", token, { spec }, node)).status, 403);
  assert.equal((await send(server, "POST", token, { spec })).status, 422);
});

const shownValues: [path: string, body: object, shown: string][] = [
  [
    "/apis/certificates.orch.io/v1/certificatesigningrequests",
    { metadata: { name: "c" }, spec: { request: "YWI=", signerName: "a.b/c", usages: ["client auth"] } },
    "[]byte{0x61, 0x62}",
  ],
  [
    "/api/v1/nodes",
    {
      metadata: { name: "n" },
      spec: {
        taints: [
          { key: "a", effect: "NoSchedule" },
          { key: "a", effect: "NoSchedule", value: "x" },
        ],
      },
    },
    'core.Taint{Key:"a", Value:"x", Effect:"NoSchedule", TimeAdded:<nil>}',
  ],
  [
    "/apis/node.orch.io/v1/runtimeclasses",
    {
      metadata: { name: "r" },
      handler: "h",
      scheduling: {
        tolerations: [
          { key: "a", operator: "Exists" },
          { key: "a", operator: "Exists" },
        ],
      },
    },
    'core.Toleration{Key:"a", Operator:"Exists", Value:"", Effect:"", TolerationSeconds:(*int64)(nil)}',
  ],
];
for (const [path, body, shown] of shownValues)
  test(`a rejected value is formatted as in Go: ${shown}`, async () => {
    await using server = await startServer({ store: "memory" });
    const { status, body: answer } = await send(server, "POST", path, body);
    assert.equal(status, 422);
    assert.ok(JSON.stringify(answer).includes(JSON.stringify(`value: ${shown}`).slice(1, -1)));
  });

test("an eviction of an earlier version is rejected with its validation error", async () => {
  const server = await withPod();
  const sent = {
    apiVersion: "policy/v1beta1",
    kind: "Eviction",
    metadata: { name: "p", namespace: "elsewhere" },
  };
  const { status, body } = await send(server, "POST", `${core}/pods/p/eviction`, sent);
  assert.equal(status, 400);
  assert.match(String(body["message"]), /the namespace of the provided object does not match/);
});
