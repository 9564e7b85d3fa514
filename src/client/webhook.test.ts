import assert from "node:assert/strict";
import { type IncomingMessage, type ServerResponse, createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { test } from "node:test";
import { type Clock, systemClock, virtualClock } from "#base";
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
    url,
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

test("a document is posted to the path of the server, without credentials where it is not secure", async () => {
  const seen: unknown[] = [];
  await using at = await harness((request, response) => {
    seen.push(request.method, request.url, request.headers["content-type"], request.headers.authorization);
    request.pipe(response);
  });
  const hook = at.hook();
  assert.equal(await hook.post('{"a":1}'), '{"a":1}\n');
  assert.deepEqual(seen, ["POST", "/hook?timeout=30s", "application/json", undefined]);
  hook.close();
});

const failures: [name: string, status: number, attempts: number, headers?: Record<string, string>][] = [
  ["a server error is retried", 500, 5],
  ["a gateway timeout is retried", 504, 5],
  ["too many requests is retried", 429, 5],
  ["an unavailable server is not retried", 503, 1],
  ["any other server error is retried", 502, 5],
  ["an error with Retry-After is retried ten times in each attempt", 429, 55, { "retry-after": "0" }],
  ["an unavailable server with Retry-After is retried ten times", 503, 11, { "retry-after": "0" }],
  ["a client error is not retried", 404, 1],
  ["a client error with Retry-After is retried", 404, 5, { "retry-after": "1" }],
  ["a redirect without a location is an error", 302, 1, { location: "" }],
  ["a status that is not a redirect is not followed", 304, 1],
  ["an undefined success status is an error", 299, 1],
];
for (const [name, status, attempts, headers] of failures) {
  test(`${name}`, async () => {
    let requests = 0;
    await using at = await harness((_request, response) => {
      requests++;
      response.writeHead(status, { location: "/elsewhere", ...headers }).end();
    });
    const hook = at.hook();
    await assert.rejects(
      hook.post("{}"),
      (error) => error instanceof WebhookError && error.status === status,
    );
    assert.equal(requests, attempts);
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
  ["application/json", '{"kind":"Status","status":"Failure","message":"no"}', "no"],
];
for (const [type, body, text] of refusals)
  test(`an error in ${type} is reported: ${text}`, async () => {
    await using at = await harness((_request, response) => {
      response.writeHead(500, { "content-type": type }).end(body);
    });
    const hook = at.hook({ attempts: 1 });
    await assert.rejects(hook.post("{}"), { message: text });
    hook.close();
  });

test("the backoff between attempts grows", async () => {
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

test("a silent server fails after the timeout, an aborted request immediately", async () => {
  await using at = await harness(() => undefined);
  const hook = at.hook({ attempts: 1, timeoutMilliseconds: 20 });
  await assert.rejects(hook.post("{}"), /: context deadline exceeded$/);
  const stop = new AbortController();
  const patient = at.hook();
  const pending = patient.post("{}", stop.signal);
  stop.abort();
  await assert.rejects(pending);
  hook.close();
  patient.close();
});

test("a request on a reused connection that is closed is not retried, as the server may have acted", async () => {
  const sockets = new Set<unknown>();
  let requests = 0;
  await using at = await harness((request, response) => {
    sockets.add(request.socket);
    if (++requests === 2) request.socket.destroy();
    else response.end("{}");
  });
  const hook = at.hook();
  await hook.post("{}");
  await assert.rejects(hook.post("{}"), /: EOF$/);
  assert.deepEqual([requests, sockets.size, at.pauses], [2, 1, []]);
  assert.equal(await hook.post("{}"), "{}");
  hook.close();
});

test("a connection that is reset is retried", async () => {
  let requests = 0;
  await using at = await harness((request, response) => {
    if (++requests === 1) request.socket.resetAndDestroy();
    else response.end("{}");
  });
  const hook = at.hook();
  assert.equal(await hook.post("{}"), "{}");
  assert.equal(requests, 2);
  hook.close();
});

test("all attempts end at the deadline, whatever Retry-After says", async () => {
  const virtual = virtualClock(0);
  // Advances the time while the client waits for the server.
  const clock: Clock = {
    ...virtual,
    after: (milliseconds, run) => {
      if (milliseconds === 7000) setImmediate(() => void virtual.advance(7000));
      return virtual.after(milliseconds, run);
    },
  };
  let requests = 0;
  await using at = await harness((_request, response) => {
    requests++;
    response.writeHead(429, { "retry-after": "7" }).end();
  });
  const hook = at.hook({ clock, deadlineMilliseconds: 30_000, timeoutMilliseconds: 60_000 });
  await assert.rejects(hook.post("{}"), /: context deadline exceeded$/);
  assert.equal(requests, 5);
  hook.close();
});

test("a redirect is followed at the same server, and nowhere else", async () => {
  let elsewhere = 0;
  await using other = await harness((_request, response) => {
    elsewhere++;
    response.end("{}");
  });
  const seen: unknown[] = [];
  let location = "/again";
  await using at = await harness(({ method, url }, response) => {
    seen.push([method, url]);
    if (url === "/again") response.end("{}");
    else response.writeHead(307, { location }).end();
  });
  const hook = at.hook();
  assert.equal(await hook.post("{}"), "{}");
  assert.deepEqual(seen, [
    ["POST", "/hook?timeout=30s"],
    ["POST", "/again"],
  ]);
  location = other.url;
  await assert.rejects(hook.post("{}"), /redirects to another server are not followed$/);
  assert.equal(elsewhere, 0);
  hook.close();
});

test("a server that refuses connections is not retried", async () => {
  const closed = await harness(() => undefined);
  const hook = closed.hook();
  await closed[Symbol.asyncDispose]();
  await assert.rejects(hook.post("{}"), WebhookError);
  assert.deepEqual(closed.pauses, []);
  hook.close();
});

test("a connection closed without a response is reported as EOF", async () => {
  await using at = await harness((request) => request.socket.end());
  const hook = at.hook({ attempts: 1 });
  await assert.rejects(hook.post("{}"), /: EOF$/);
  hook.close();
});

test("a response without a required body is an error, and not retried", async () => {
  let requests = 0;
  await using at = await harness((_request, response) => {
    requests++;
    response.writeHead(200, { "content-type": "text/x" }).end();
  });
  const hook = at.hook({ needsBody: true });
  await assert.rejects(hook.post("{}"), {
    message: "0-length response with status code: 200 and content type: text/x",
  });
  assert.equal(requests, 1);
  hook.close();
  const patient = at.hook();
  assert.equal(await patient.post("{}"), "");
  patient.close();
});
