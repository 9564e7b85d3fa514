import assert from "node:assert/strict";
import { test } from "node:test";
import { ApiError } from "#base";
import { dialectNamed } from "#dialect";
import { type ApiClient, apiClient } from "./client.ts";
import { kinds } from "./kinds.ts";
import type { ClientRequest, Transport } from "./transport.ts";

/** Records requests and returns prepared responses. */
function recorder(
  answers: { status?: number; headers?: Record<string, string>; body?: unknown; chunks?: string[] }[] = [],
): Transport & { readonly sent: ClientRequest[] } {
  const sent: ClientRequest[] = [];
  return {
    sent,
    send: async (request) => {
      sent.push(request);
      const { status = 200, headers = {}, body = {}, chunks } = answers.shift() ?? {};
      return {
        status,
        headers,
        chunks: (async function* () {
          for (const part of chunks ?? [JSON.stringify(body)]) yield Buffer.from(part);
        })(),
      };
    },
    close: () => undefined,
  };
}
const dialect = dialectNamed("orch")!;
const draft = { metadata: { name: "a", namespace: "n" }, data: { k: "v" } };

const cases: [
  name: string,
  act: (client: ApiClient) => Promise<unknown>,
  method: string,
  path: string,
  body?: unknown,
  contentType?: string,
][] = [
  [
    "get",
    (c) => c.of(kinds.configMaps).get("a", { namespace: "n" }),
    "GET",
    "/api/v1/namespaces/n/configmaps/a",
  ],
  ["get of a cluster-wide kind", (c) => c.of(kinds.nodes).get("a"), "GET", "/api/v1/nodes/a"],
  [
    "get in a group",
    (c) => c.of(kinds.events).get("a.1", { namespace: "n" }),
    "GET",
    "/apis/events.orch.io/v1/namespaces/n/events/a.1",
  ],
  [
    "a subresource",
    (c) => c.of(kinds.pods).get("a", { namespace: "n", subresource: "status" }),
    "GET",
    "/api/v1/namespaces/n/pods/a/status",
  ],
  [
    "a name is escaped",
    (c) => c.of(kinds.clusterRoles).get("system:a/b"),
    "GET",
    "/apis/rbac.authorization.orch.io/v1/clusterroles/system%3Aa%2Fb",
  ],
  [
    "create",
    (c) => c.of(kinds.configMaps).create(draft, { dryRun: true, fieldManager: "me" }),
    "POST",
    "/api/v1/namespaces/n/configmaps?dryRun=All&fieldManager=me",
    "ConfigMap",
  ],
  [
    "create of a subresource",
    (c) =>
      c
        .of(kinds.pods)
        .create(
          { metadata: { name: "a", namespace: "n" }, spec: { containers: [] } },
          { name: "a", subresource: "eviction" },
        ),
    "POST",
    "/api/v1/namespaces/n/pods/a/eviction",
    "Pod",
  ],
  [
    "update",
    (c) => c.of(kinds.configMaps).update(draft, { fieldValidation: "Strict" }),
    "PUT",
    "/api/v1/namespaces/n/configmaps/a?fieldValidation=Strict",
    "ConfigMap",
  ],
  [
    "patch",
    (c) => c.of(kinds.configMaps).patch("a", "merge", { data: null }, { namespace: "n" }),
    "PATCH",
    "/api/v1/namespaces/n/configmaps/a",
    { data: null },
    "application/merge-patch+json",
  ],
  [
    "apply",
    (c) =>
      c.of(kinds.configMaps).patch("a", "apply", {}, { namespace: "n", fieldManager: "me", force: true }),
    "PATCH",
    "/api/v1/namespaces/n/configmaps/a?fieldManager=me&force=true",
    {},
    "application/apply-patch+yaml",
  ],
  [
    "delete",
    (c) =>
      c
        .of(kinds.configMaps)
        .delete("a", { namespace: "n", uid: "u", graceSeconds: 0, propagation: "Orphan", dryRun: true }),
    "DELETE",
    "/api/v1/namespaces/n/configmaps/a",
    {
      kind: "DeleteOptions",
      apiVersion: "v1",
      gracePeriodSeconds: 0,
      preconditions: { uid: "u" },
      propagationPolicy: "Orphan",
      dryRun: ["All"],
    },
  ],
  [
    "delete many",
    (c) => c.of(kinds.configMaps).deleteMany({ namespace: "n", labelSelector: "a=b" }),
    "DELETE",
    "/api/v1/namespaces/n/configmaps?labelSelector=a%3Db",
    { kind: "DeleteOptions", apiVersion: "v1" },
  ],
];
for (const [name, act, method, path, body, contentType] of cases) {
  test(`${name} sends one request`, async () => {
    const transport = recorder();
    await act(apiClient(transport, dialect));
    const [request] = transport.sent;
    assert.equal(`${request!.method} ${request!.path}`, `${method} ${path}`);
    const sent =
      request!.body === undefined ? undefined : (JSON.parse(request!.body as string) as { kind?: string });
    if (typeof body === "string") assert.equal(sent?.kind, body);
    else assert.deepEqual(sent, body);
    if (body !== undefined)
      assert.equal(request!.headers?.["content-type"], contentType ?? "application/json");
  });
}

const mistakes: [name: string, act: (client: ApiClient) => Promise<unknown>, message: RegExp][] = [
  ["an empty name never requests a list", (c) => c.of(kinds.nodes).get(""), /the name is empty/i],
  ["an empty name never deletes a collection", (c) => c.of(kinds.nodes).delete(""), /the name is empty/i],
  ["a namespace is needed to read one object", (c) => c.of(kinds.pods).get("a"), /say in which one/],
  ["a namespace is needed to delete many", (c) => c.of(kinds.pods).deleteMany(), /say in which one/],
];
for (const [name, act, message] of mistakes) {
  test(name, async () => {
    const transport = recorder();
    await assert.rejects(act(apiClient(transport, dialect)), message);
    assert.equal(transport.sent.length, 0);
  });
}

test("an error response is an ApiError with the server's message, or with the body", async () => {
  const status = {
    kind: "Status",
    reason: "Conflict",
    message: "changed",
    details: { retryAfterSeconds: 2 },
    code: 409,
  };
  const client = apiClient(
    recorder([
      { status: 409, body: status },
      { status: 502, chunks: ["<html>bad gateway"] },
    ]),
    dialect,
  );
  await assert.rejects(
    client.request("GET", "/x"),
    (error) =>
      error instanceof ApiError &&
      error.code === 409 &&
      error.reason === "Conflict" &&
      error.message === "changed" &&
      error.details?.retryAfterSeconds === 2,
  );
  await assert.rejects(
    client.request("GET", "/x"),
    (error) => error instanceof ApiError && error.code === 502 && error.message === "<html>bad gateway",
  );
});

test("pages have the default size if none is given", async () => {
  const page = (token?: string) => ({
    body: { metadata: { resourceVersion: "9", continue: token }, items: [] },
  });
  const transport = recorder([page("t"), page("u"), page()]);
  await Array.fromAsync(apiClient(transport, dialect).of(kinds.configMaps).pages());
  assert.deepEqual(
    transport.sent.map(({ path }) => path.split("?")[1]),
    ["limit=500", "limit=500&continue=t", "limit=500&continue=u"],
  );
});

test("list items carry their kind, and pages follow one another", async () => {
  const transport = recorder([
    {
      body: {
        metadata: { resourceVersion: "9", continue: "t", remainingItemCount: 1 },
        items: [{ metadata: { name: "a" } }],
      },
    },
    { body: { metadata: { resourceVersion: "9" }, items: null } },
  ]);
  const pages = await Array.fromAsync(
    apiClient(transport, dialect)
      .of(kinds.configMaps)
      .pages({ namespace: "n", limit: 1, resourceVersion: "9" }),
  );
  assert.deepEqual(pages, [
    {
      resourceVersion: "9",
      continue: "t",
      remaining: 1,
      items: [{ metadata: { name: "a" }, apiVersion: "v1", kind: "ConfigMap" }],
    },
    { resourceVersion: "9", items: [] },
  ]);
  assert.deepEqual(
    transport.sent.map(({ path }) => path.split("?")[1]),
    ["limit=1&resourceVersion=9", "limit=1&continue=t"],
  );
});

test("watch events are read however they are split into chunks", async () => {
  const text =
    '{"type":"ADDED","object":{"metadata":{"name":"ä"}}}\n{"type":"BOOKMARK","object":{"metadata":{"resourceVersion":"7"}}}\n';
  const bytes = Buffer.from(text);
  for (const size of [1, 3, 50, bytes.length]) {
    const pieces = Array.from({ length: Math.ceil(bytes.length / size) }, (_, at) =>
      bytes.subarray(at * size, (at + 1) * size),
    );
    const transport: Transport = {
      send: async () => ({
        status: 200,
        headers: {},
        chunks: (async function* () {
          yield* pieces;
        })(),
      }),
      close: () => undefined,
    };
    const events = await Array.fromAsync(
      apiClient(transport, dialect).of(kinds.configMaps).watch({ namespace: "n" }),
    );
    assert.deepEqual(
      events.map(({ type }) => type),
      ["ADDED", "BOOKMARK"],
    );
    assert.equal((events[0] as { object: { metadata: { name: string } } }).object.metadata.name, "ä");
  }
});

for (const [name, path] of [
  ["orch", "/apis/events.orch.io/v1/namespaces/n/events/a"],
  ["kubernetes", "/apis/events.k8s.io/v1/namespaces/n/events/a"],
] as const) {
  test(`a client for ${name} is created by dialect name`, async () => {
    const transport = recorder();
    await apiClient(transport, name).of(kinds.events).get("a", { namespace: "n" });
    assert.equal(transport.sent[0]!.path, path);
  });
}

test("Retry-After is reported even if only a header has it", async () => {
  const headers = { "retry-after": "5" };
  for (const answer of [{ body: { reason: "ServiceUnavailable" } }, { chunks: ["shutting down"] }]) {
    const client = apiClient(recorder([{ status: 503, headers, ...answer }]), dialect);
    await assert.rejects(
      client.of(kinds.nodes).get("a"),
      (error: unknown) => error instanceof ApiError && error.details?.retryAfterSeconds === 5,
    );
  }
});
