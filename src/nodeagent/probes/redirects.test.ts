import assert from "node:assert/strict";
import { once } from "node:events";
import { type IncomingMessage, createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { type TestContext, test } from "node:test";
import { type HttpGet, headersOf } from "./http-get.ts";
import { type FollowOptions, getFollowingRedirects } from "./redirects.ts";

/** Starts a server that responds to `/<status>?<location>` with both, and redirects `/loop` to itself. */
async function request(t: TestContext, path: string, options: Partial<FollowOptions> = {}) {
  const requests: IncomingMessage[] = [];
  const server = createServer((request, response) => {
    requests.push(request);
    const [before = "", location] = request.url === "/loop" ? ["/302", "/loop"] : request.url!.split("?");
    response.writeHead(Number(before.slice(1)), location === undefined ? {} : { location });
    response.end("body");
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  t.after(() => server.close());
  const { port } = server.address() as AddressInfo;
  const headers = headersOf([{ name: "Host", value: "mine" }], "us");
  const get: HttpGet = {
    scheme: "http",
    host: "127.0.0.1",
    port,
    path: path.replaceAll("PORT", String(port)),
    headers,
  };
  const { signal } = new AbortController();
  const answer = getFollowingRedirects(get, { timeoutMilliseconds: 5000, signal, ...options });
  return { answer, requests, port };
}

const cases: [path: string, status: number, requests: number][] = [
  ["/200", 200, 1],
  ["/302?/204", 204, 2],
  ["/308?/200", 200, 2],
  ["/304?/200", 304, 1],
  ["/300?/200", 300, 1],
  ["/301", 301, 1],
  ["/302?http://127.0.0.2:PORT/200", 302, 1],
];
for (const [path, status, count] of cases)
  test(`${path} ends with ${status} after ${count} requests`, async (t) => {
    const { answer, requests } = await request(t, path);
    assert.deepEqual([(await answer).status, requests.length], [status, count]);
  });

test("redirects to other hosts are followed if allowed", async (t) => {
  const { answer, requests } = await request(t, "/302?http://localhost:PORT/200", { anyHost: true });
  assert.equal((await answer).status, 200);
  assert.match(requests[1]!.headers.host!, /^localhost:/);
});

test("redirects stop after ten requests", async (t) => {
  const { answer, requests } = await request(t, "/loop");
  await assert.rejects(answer, { message: 'Get "/loop": stopped after 10 redirects' });
  assert.equal(requests.length, 10);
});

test("a redirected request has a Referer, and keeps the given Host header on the same host", async (t) => {
  const { answer, requests, port } = await request(t, "/302?/200");
  await answer;
  assert.deepEqual(
    [requests[1]!.headers.referer, requests[1]!.headers.host],
    [`http://127.0.0.1:${port}/302?/200`, "mine"],
  );
  const redirected = await request(t, "/302?http://127.0.0.1:PORT/200");
  await redirected.answer;
  assert.equal(redirected.requests[1]!.headers.host, `127.0.0.1:${redirected.port}`);
});
