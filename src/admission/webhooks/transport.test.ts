import assert from "node:assert/strict";
import { once } from "node:events";
import type { IncomingMessage, ServerResponse } from "node:http";
import { createServer } from "node:https";
import type { AddressInfo, Socket } from "node:net";
import { after, test } from "node:test";
import { createAuthority, selfSigned, signServing } from "#authn";
import { type Clock, systemClock, virtualClock } from "#base";
import { NoAlternativeNames } from "#http";
import { type PostReview, webhookTransport } from "./transport.ts";

const pair = selfSigned({ commonName: "webhook" }, ["127.0.0.1", "hook.shop.svc"], {
  now: Date.now(),
  days: 1,
});
const caBundle = Buffer.from(pair.certificate).toString("base64");
let answer = (_: IncomingMessage, response: ServerResponse): void => void response.end("{}");
const server = createServer({ cert: pair.certificate, key: pair.key }, (request, response) => {
  request.resume().on("end", () => answer(request, response));
});
const connections: Socket[] = [];
server.on("secureConnection", (socket) => connections.push(socket));
server.listen(0, "127.0.0.1");
await once(server, "listening");
const { port } = server.address() as AddressInfo;
after(() => {
  server.closeAllConnections();
  server.close();
});

const clock = virtualClock(0);
const transport = (by: Clock = clock): PostReview =>
  webhookTransport({
    clock: by,
    userAgent: "tester",
    resolveService: async () => ({ host: "127.0.0.1", port }),
    credentialsFor: () => ({ authorization: "Bearer abc" }),
  });
const byUrl = { url: `https://127.0.0.1:${port}/review`, caBundle };

test("reviews are posted as JSON over one connection, and responses are read", async () => {
  const seen: unknown[] = [];
  answer = ({ method, url, headers }, response) => {
    const {
      host,
      authorization,
      "content-type": type,
      "user-agent": agent,
      "content-length": length,
    } = headers;
    seen.push({ method, url, host, authorization, type, agent, length });
    response.setHeader("content-type", "application/json").end(`{"text":"\u00e9"}`);
  };
  const post = transport();
  const before = connections.length;
  for (let round = 0; round < 2; round++) {
    const { status, body } = await post(byUrl, { a: "\u00e9" }, 10_000);
    assert.deepEqual([status, body], [200, `{"text":"\u00e9"}`]);
  }
  const expected = {
    method: "POST",
    url: "/review?timeout=10s",
    host: `127.0.0.1:${port}`,
    authorization: "Bearer abc",
    type: "application/json",
    agent: "tester",
    length: "11",
  };
  assert.deepEqual(seen, [expected, expected]);
  assert.equal(connections.length - before, 1);
});

test("a review is encoded before anything is waited for", async () => {
  answer = (_, response) => void response.end("{}");
  let encoded = false;
  const called = transport()(byUrl, { toJSON: () => (encoded = true) }, 10_000);
  assert.equal(encoded, true);
  await called;
});

test("a response longer than the buffer of its connection is read whole", async () => {
  const text = Array.from({ length: 30_000 }, (_, at) => String(at)).join();
  const post = transport();
  const before = connections.length;
  for (const lengthHeader of [{}, { "content-length": text.length }]) {
    answer = (_, response) => void response.writeHead(200, lengthHeader).end(text);
    assert.equal((await post(byUrl, {}, 10_000)).body, text);
  }
  assert.equal(connections.length - before, 1);
});

test("a service is called by its name at its resolved address", async () => {
  let host: string | undefined;
  answer = ({ headers }, response) => {
    host = headers.host;
    response.end("{}");
  };
  const service = { namespace: "shop", name: "hook", path: "/x" };
  assert.equal((await transport()({ service, caBundle }, {}, 10_000)).status, 200);
  assert.equal(host, "hook.shop.svc:443");
});

test("a bundle may hold only the certificate of the webhook", async () => {
  answer = (_, response) => void response.end("{}");
  const validity = { now: Date.now(), days: 1 };
  const authority = createAuthority({ commonName: "authority" }, validity);
  const leaf = signServing(authority, { commonName: "leaf" }, ["127.0.0.1"], validity);
  const other = createServer({ cert: leaf.certificate, key: leaf.key }, (request, response) => {
    request.resume().on("end", () => answer(request, response));
  }).listen(0, "127.0.0.1");
  await once(other, "listening");
  const url = `https://127.0.0.1:${(other.address() as AddressInfo).port}/`;
  const bundle = (text: string): string => Buffer.from(text).toString("base64");
  try {
    assert.equal((await transport()({ url, caBundle: bundle(leaf.certificate) }, {}, 10_000)).status, 200);
    await assert.rejects(transport()({ url, caBundle }, {}, 10_000), /unknown authority/);
  } finally {
    other.closeAllConnections();
    other.close();
  }
});

test("a path is sent without dots, doubled slashes and trailing slash", async () => {
  const seen: (string | undefined)[] = [];
  answer = ({ url }, response) => {
    seen.push(url);
    response.end("{}");
  };
  for (const path of ["/a/", "/a//b/../c", "/", "a"])
    await transport()({ service: { namespace: "shop", name: "hook", path }, caBundle }, {}, 10_000);
  await transport()({ url: `${byUrl.url}/`, caBundle }, {}, 10_000);
  assert.deepEqual(
    seen.map((url) => url?.split("?")[0]),
    ["/a", "/a/c", "/", "/a", "/review"],
  );
});

test("a response that ends in its body is reported", async () => {
  answer = (_, response) => {
    response.writeHead(200, { "content-length": 100 });
    response.write("{");
    setImmediate(() => response.socket?.end());
  };
  await assert.rejects(transport()(byUrl, {}, 10_000), {
    message: "unexpected error when reading response body. Please retry. Original error: unexpected EOF",
  });
});

const failures: [name: string, client: Parameters<PostReview>[0], message: RegExp][] = [
  [
    "a server with an untrusted certificate",
    { url: byUrl.url },
    /^Post "https:\/\/127\.0\.0\.1:\d+\/review\?timeout=10s": tls: failed to verify certificate: x509: certificate signed by unknown authority$/,
  ],
  [
    "a certificate for another name",
    { service: { namespace: "shop", name: "other" }, caBundle },
    /does not match certificate's altnames/,
  ],
  [
    "a path that needs escaping",
    { service: { namespace: "shop", name: "hook", path: "/a b" }, caBundle },
    /escaping/,
  ],
];
for (const [name, client, message] of failures)
  test(`a call fails: ${name}`, async () => {
    answer = (_, response) => void response.end("{}");
    await assert.rejects(transport()(client, {}, 10_000), { message });
  });

test("a certificate with its name in the subject only is refused, and the error says so", async () => {
  const unnamed = selfSigned({ commonName: "hook.shop.svc" }, [], { now: Date.now(), days: 1 });
  const other = createServer({ cert: unnamed.certificate, key: unnamed.key }, (_, response) =>
    response.end(),
  );
  other.listen(0, "127.0.0.1");
  await once(other, "listening");
  const errors: unknown[] = [];
  const send = webhookTransport({
    clock,
    userAgent: "test",
    resolveService: async () => ({ host: "127.0.0.1", port: (other.address() as AddressInfo).port }),
    observe: ({ error }) => void errors.push(error),
  });
  const bundle = Buffer.from(unnamed.certificate).toString("base64");
  const client = { service: { namespace: "shop", name: "hook" }, caBundle: bundle };
  await assert.rejects(send(client, {}, 10_000), { message: /legacy Common Name field, use SANs instead$/ });
  assert.ok(errors[0] instanceof NoAlternativeNames);
  other.closeAllConnections();
  other.close();
});

test("a webhook that does not respond in time fails", async () => {
  answer = () => void clock.advance(10_000);
  await assert.rejects(transport()(byUrl, {}, 10_000), { message: /: context deadline exceeded$/ });
});

const later: [name: string, status: number, header: string | undefined, received: number, last: number][] = [
  ["a 429 with Retry-After is retried", 429, "0", 2, 200],
  ["a server error with Retry-After is retried", 503, "0", 2, 200],
  ["a 429 without Retry-After is not retried", 429, undefined, 1, 429],
  ["a Retry-After date is not retried", 503, "soon", 1, 503],
  ["a success with Retry-After is not retried", 404, "0", 1, 404],
];
for (const [name, status, header, times, last] of later)
  test(name, async () => {
    let received = 0;
    answer = (_, response) => {
      if (header !== undefined) response.setHeader("retry-after", header);
      response.writeHead(++received === 1 ? status : 200).end("{}");
    };
    const reply = await transport(systemClock)(byUrl, {}, 10_000);
    assert.deepEqual([received, reply.status], [times, last]);
  });

test("a call is retried at most ten times and only until its timeout", async () => {
  let received = 0;
  let wait = "0";
  answer = (_, response) => {
    received++;
    response.setHeader("retry-after", wait).writeHead(429).end("{}");
  };
  assert.equal((await transport(systemClock)(byUrl, {}, 10_000)).status, 429);
  assert.equal(received, 11);
  wait = "60";
  await assert.rejects(transport(systemClock)(byUrl, {}, 0.05), /context deadline exceeded/);
});

test("redirects are followed at the same server only", async () => {
  const seen: unknown[] = [];
  answer = ({ method, url, headers }, response) => {
    seen.push([method, url, headers.authorization]);
    if (url === "/last") response.end("{}");
    else
      response
        .writeHead(url === "/next" ? 302 : 307, { location: url === "/next" ? "/last" : "/next" })
        .end();
  };
  const service = { namespace: "shop", name: "hook" };
  assert.equal((await transport()({ service, caBundle }, {}, 10_000)).status, 200);
  assert.deepEqual(seen, [
    ["POST", "/?timeout=10s", "Bearer abc"],
    ["POST", "/next", "Bearer abc"],
    ["GET", "/last", "Bearer abc"],
  ]);
  answer = (_, response) => response.writeHead(307, { location: "https://other.shop.svc:443/" }).end();
  await assert.rejects(
    transport()({ service, caBundle }, {}, 10_000),
    /^Error: Post "https:\/\/other\.shop\.svc:443\/": redirects to another server are not followed$/,
  );
});
