import assert from "node:assert/strict";
import { type IncomingMessage, type ServerResponse, createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { test } from "node:test";
import { type Clock, systemClock } from "#base";
import { WebhookError, webhook } from "./webhook.ts";

type Answer = (request: IncomingMessage, response: ServerResponse) => void;

async function harness(answer: Answer) {
  const server = createServer(answer);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const pauses: number[] = [];
  const clock: Clock = { ...systemClock, sleep: async (milliseconds) => void pauses.push(milliseconds) };
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook?a=b`;
  return {
    pauses,
    hook: (more: Partial<Parameters<typeof webhook>[0]> = {}) =>
      webhook({
        connection: { server: url, token: () => "t" },
        clock,
        userAgent: "test",
        attempts: 5,
        ...more,
      }),
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

test("a document is posted with its credentials and a timeout, and the answer comes back", async () => {
  const seen: unknown[] = [];
  await using at = await harness((request, response) => {
    seen.push(request.method, request.url, request.headers["content-type"], request.headers.authorization);
    request.pipe(response);
  });
  const hook = at.hook();
  assert.equal(await hook.post('{"a":1}'), '{"a":1}');
  assert.deepEqual(seen, ["POST", "/hook?a=b&timeout=30s", "application/json", "Bearer t"]);
  hook.close();
});

const failures: [name: string, status: number, attempts: number, headers?: Record<string, string>][] = [
  ["a server error is tried again", 500, 5],
  ["a gateway that waited in vain is asked again", 504, 5],
  ["too many requests are tried again", 429, 5],
  ["a server that is not available is not asked again", 503, 1],
  ["unless it says when to come back", 503, 5, { "retry-after": "1" }],
  ["a client error is not tried again", 404, 1, { "retry-after": "1" }],
  ["a redirect is not followed", 302, 1],
  ["a status of success that nobody defined is a failure", 299, 1],
];
for (const [name, status, attempts, headers] of failures) {
  test(`${name}`, async () => {
    let asked = 0;
    await using at = await harness((_request, response) => {
      asked++;
      response.writeHead(status, { location: "/elsewhere", ...headers }).end();
    });
    const hook = at.hook();
    await assert.rejects(
      hook.post("{}"),
      (error) => error instanceof WebhookError && error.status === status,
    );
    assert.equal(asked, attempts);
    hook.close();
  });
}

const refusals: [type: string, body: string, text: string][] = [
  ["text/plain", "boom\n", 'an error on the server ("boom") has prevented the request from succeeding'],
  [
    "application/json",
    "boom",
    'an error on the server ("unknown") has prevented the request from succeeding',
  ],
  ["application/json", '{"kind":"Status","message":"no"}', "no"],
];
for (const [type, body, text] of refusals)
  test(`a refusal in ${type} is told: ${text}`, async () => {
    await using at = await harness((_request, response) => {
      response.writeHead(500, { "content-type": type }).end(body);
    });
    const hook = at.hook({ attempts: 1 });
    await assert.rejects(hook.post("{}"), { message: text });
    hook.close();
  });

test("pauses between attempts grow", async () => {
  await using at = await harness((_request, response) => response.writeHead(500).end());
  const hook = at.hook({ initialBackoffMilliseconds: 100 });
  await assert.rejects(hook.post("{}"));
  assert.equal(at.pauses.length, 4);
  at.pauses.forEach((pause, index) => {
    const least = 100 * 1.5 ** index;
    assert.ok(pause >= least && pause <= least * 1.2, `${pause}`);
  });
  hook.close();
});

test("a silent server is given up after the timeout, an aborted request at once", async () => {
  await using at = await harness(() => undefined);
  const hook = at.hook({ attempts: 1, timeoutMilliseconds: 20 });
  await assert.rejects(hook.post("{}"), /no answer within 20 ms/);
  const stop = new AbortController();
  const patient = at.hook();
  const asked = patient.post("{}", stop.signal);
  stop.abort();
  await assert.rejects(asked);
  hook.close();
  patient.close();
});

test("a kept connection that the server closed is replaced at once", async () => {
  let asked = 0;
  await using at = await harness((request, response) => {
    asked++;
    if (asked === 2) request.socket.destroy();
    else response.end("{}");
  });
  const hook = at.hook({ attempts: 1 });
  await hook.post("{}");
  assert.equal(await hook.post("{}"), "{}");
  assert.deepEqual([asked, at.pauses], [3, []]);
  hook.close();
});

test("a server that refuses connections is not asked again", async () => {
  const closed = await harness(() => undefined);
  const hook = closed.hook();
  await closed[Symbol.asyncDispose]();
  await assert.rejects(hook.post("{}"), WebhookError);
  assert.deepEqual(closed.pauses, []);
  hook.close();
});

test("a server that closes the connection instead of answering is told as the end of it", async () => {
  await using at = await harness((request) => request.socket.end());
  const hook = at.hook({ attempts: 1 });
  await assert.rejects(hook.post("{}"), /: EOF$/);
  hook.close();
});

test("an answer without a body is a failure where one is needed, and asked for once", async () => {
  let asked = 0;
  await using at = await harness((_request, response) => {
    asked++;
    response.writeHead(200, { "content-type": "text/x" }).end();
  });
  const hook = at.hook({ needsBody: true });
  await assert.rejects(hook.post("{}"), {
    message: "0-length response with status code: 200 and content type: text/x",
  });
  assert.equal(asked, 1);
  hook.close();
  const patient = at.hook();
  assert.equal(await patient.post("{}"), "");
  patient.close();
});
