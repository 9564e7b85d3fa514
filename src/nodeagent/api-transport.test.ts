import assert from "node:assert/strict";
import { test } from "node:test";
import { createMetrics, virtualClock } from "#base";
import { type ClientRequest, type Transport, Unreachable } from "#client";
import { apiTransport } from "./api-transport.ts";

function limited(perSecond: number, burst: number) {
  const clock = virtualClock();
  const metrics = createMetrics();
  const reached: string[] = [];
  const inner: Transport = {
    send: async ({ path }) => {
      reached.push(path);
      if (path === "/broken") throw new Error("unreachable");
      return {
        status: path === "/absent" ? 404 : 200,
        headers: { "content-length": "70" },
        chunks: (async function* () {})(),
      };
    },
    close: () => undefined,
  };
  const transport = apiTransport(inner, { clock, metrics, perSecond, burst, host: "h:1" });
  return {
    clock,
    metrics,
    reached,
    send: (path: string, method = "GET") => transport.send({ method, path }),
  };
}

test("requests beyond the burst wait for the rate limiter", async () => {
  const { clock, reached, send } = limited(2, 3);
  const all = Promise.all(Array.from({ length: 5 }, (_each, at) => send(`/api/v1/pods/${at}`)));
  await clock.advance(0);
  assert.equal(reached.length, 3);
  await clock.advance(500);
  assert.equal(reached.length, 4);
  await clock.advance(500);
  assert.equal(reached.length, 5);
  await all;
});

const exempt: [name: string, path: string][] = [
  ["events do not count against the rate limit", "/api/v1/namespaces/a/events"],
  ["updates of events are not counted either", "/api/v1/namespaces/a/events/x.1?fieldManager=y"],
  ["the node lease is exempt from rate limiting", "/apis/coordination/v1/namespaces/l/leases/n1"],
  ["the node status is exempt from rate limiting", "/api/v1/nodes/n1/status?fieldManager=x"],
];
for (const [name, path] of exempt) {
  test(name, async () => {
    const { clock, reached, send } = limited(1, 1);
    await send("/api/v1/pods/first");
    const waiting = send("/api/v1/pods/second");
    for (let times = 0; times < 5; times++) await send(path);
    assert.deepEqual(reached, ["/api/v1/pods/first", ...Array.from({ length: 5 }, () => path)]);
    await clock.advance(1000);
    await waiting;
    assert.equal(reached.at(-1), "/api/v1/pods/second");
  });
}

test("a heartbeat times out by the time the next is due, and the next uses a new connection", async () => {
  const requests: [path: string, timeoutMilliseconds: number | undefined][] = [];
  let renewals = 0;
  const inner = {
    send: async ({ path, timeoutMilliseconds }: ClientRequest): Promise<never> => {
      requests.push([path, timeoutMilliseconds]);
      throw new Unreachable("no answer");
    },
    close: () => undefined,
    renew: () => void renewals++,
  };
  const transport = apiTransport(inner, {
    clock: virtualClock(),
    metrics: createMetrics(),
    perSecond: 0,
    burst: 0,
    host: "h:1",
  });
  const paths = [
    "/apis/coordination/v1/namespaces/l/leases/n1",
    "/api/v1/nodes/n1/status",
    "/api/v1/pods",
    "/api/v1/namespaces/a/events",
  ];
  for (const path of paths)
    await assert.rejects(transport.send({ method: "GET", path, timeoutMilliseconds: 60_000 }));
  assert.deepEqual(
    requests,
    paths.map((path, at) => [path, at < 2 ? 10_000 : 60_000]),
  );
  assert.equal(renewals, 2);
});

test("without a limit no request waits", async () => {
  const { reached, send } = limited(0, 0);
  await Promise.all(Array.from({ length: 300 }, () => send("/api/v1/pods/x")));
  assert.equal(reached.length, 300);
});

test("requests to the API server are counted by status, failures included", async () => {
  const { metrics, send } = limited(0, 0);
  await send("/api/v1/pods/x");
  await send("/absent");
  await assert.rejects(send("/broken", "PATCH"));
  const text = metrics.expose();
  for (const line of [
    'rest_client_requests_total{code="200",host="h:1",method="GET"} 1',
    'rest_client_requests_total{code="404",host="h:1",method="GET"} 1',
    'rest_client_requests_total{code="<error>",host="h:1",method="PATCH"} 1',
    'rest_client_response_size_bytes_bucket{host="h:1",verb="GET",le="64"} 0',
    'rest_client_response_size_bytes_sum{host="h:1",verb="GET"} 140',
    'rest_client_request_duration_seconds_count{host="h:1",verb="GET"} 2',
  ]) {
    assert.ok(text.includes(`${line}\n`), line);
  }
});
