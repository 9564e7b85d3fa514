import assert from "node:assert/strict";
import { test } from "node:test";
import type { Reply } from "#http";
import { apiCall, memorySink } from "#kit";
import { type Span, tracer } from "#tracing";
import { authenticationSpan, requestSpans } from "./tracing.ts";

const traceId = "0af7651916cd43dd8448eb211c80319c";

/** Returns the spans of one request, in the order in which they ended. */
async function spansOf(path: string, reply: Reply, headers: Record<string, string> = {}) {
  const ended: Span[] = [];
  const filter = requestSpans({
    tracer: tracer({ samplingRatePerMillion: 1_000_000, ended: (span) => ended.push(span) }),
    serverSpan: "TestAPI",
  });
  const call = apiCall({ path, headers: { host: "h:1", "user-agent": "me", ...headers } });
  const answer = await filter.run(call, () => authenticationSpan.run(call, async () => reply));
  return { ended, answer };
}

const json = { "content-type": "application/json" };
const object: Reply = { status: 200, headers: json, body: Buffer.from("{}") };

test("a request has a span, with a child span for authentication and all that follows", async () => {
  const { ended } = await spansOf("/version", object);
  assert.deepEqual(
    ended.map(({ name }) => name),
    ["authentication", "TestAPI"],
  );
  const [inner, root] = ended;
  assert.equal(inner!.parentId, root!.id);
  assert.equal(root!.parentId, "");
});

test("the request's span has the attributes that otelhttp gives it", async () => {
  const { ended } = await spansOf("/version?x=1", object);
  const { attributes } = ended.at(-1)!;
  assert.deepEqual(attributes, {
    "net.transport": "ip_tcp",
    "net.peer.ip": "192.0.2.1",
    "http.target": "/version?x=1",
    "http.server_name": "TestAPI",
    "http.user_agent": "me",
    "http.scheme": "https",
    "http.host": "h:1",
    "http.flavor": "2",
    "http.method": "GET",
    "http.status_code": 200,
    "http.wrote_bytes": 2,
  });
});

test("a trace that the client sent is linked, not continued", async () => {
  const { ended } = await spansOf("/version", object, {
    traceparent: `00-${traceId}-00f067aa0ba902b7-00`,
  });
  const root = ended.at(-1)!;
  assert.equal(root.link?.traceId, traceId);
  assert.notEqual(root.trace!.traceId, traceId);
});

const serialized: [path: string, reply: Reply, expected: boolean][] = [
  ["/api/v1/namespaces/a/pods/p", object, true],
  ["/apis", object, true],
  ["/version", object, false],
  ["/openapi/v3", object, false],
  ["/version", { ...object, status: 403 }, true],
  ["/healthz", { status: 200, headers: { "content-type": "text/plain" } }, false],
  ["/api/v1/pods?watch=true", object, false],
];
for (const [path, reply, expected] of serialized)
  test(`${path} with ${reply.status} ${expected ? "serializes an object" : "serializes no object"}`, async () => {
    const { ended } = await spansOf(path, reply);
    const span = ended.find(({ name }) => name === "SerializeObject");
    assert.equal(span !== undefined, expected);
    if (span) assert.equal(span.parentId, ended.find(({ name }) => name === "authentication")!.id);
  });

const protobuf = { "content-type": "application/vnd.kubernetes.protobuf" };
const encoders: [path: string, reply: Reply, encodeGV: string, encoder: string][] = [
  ["/api/v1/pods", { ...object, headers: protobuf }, "v1", "protobuf"],
  [
    "/apis/apps/v1/deployments",
    object,
    "apps/v1",
    '{"name":"json","pretty":"false","strict":"false","yaml":"false"}',
  ],
  [
    "/apis/apps/v1/deployments",
    { ...object, body: Buffer.from("{\n}") },
    "apps/v1",
    '{"name":"json","pretty":"true","strict":"false","yaml":"false"}',
  ],
];
for (const [path, reply, encodeGV, encoder] of encoders)
  test(`the span of serializing names kube-apiserver's encoder: ${encodeGV} ${encoder}`, async () => {
    const { ended } = await spansOf(path, reply);
    const span = ended.find(({ name }) => name === "SerializeObject")!;
    assert.deepEqual(JSON.parse(String(span.attributes["encoder"])), {
      encodeGV,
      encoder,
      name: "versioning",
    });
    assert.deepEqual(
      span.items.map(({ name }) => name),
      ["About to start writing response", "Write call succeeded"],
    );
  });

test("the span of a streamed answer ends with the stream", async () => {
  const body = { stream: async () => undefined };
  const { ended, answer } = await spansOf("/api/v1/pods?watch=true", { status: 200, headers: json, body });
  assert.deepEqual(
    ended.map(({ name }) => name),
    ["authentication"],
  );
  await (answer.body as typeof body & { stream(sink: unknown): Promise<void> }).stream(memorySink());
  assert.equal(ended.at(-1)!.name, "TestAPI");
});

test("a request that is not sampled passes without a span", async () => {
  const filter = requestSpans({
    tracer: tracer({ samplingRatePerMillion: 0, ended: () => assert.fail("nothing is exported") }),
    serverSpan: "TestAPI",
  });
  const call = apiCall();
  await filter.run(call, () => authenticationSpan.run(call, async () => object));
  assert.equal(call.span, undefined);
});
