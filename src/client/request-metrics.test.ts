import assert from "node:assert/strict";
import { test } from "node:test";
import { createMetrics, virtualClock } from "#base";
import { counted, requestMetrics } from "./request-metrics.ts";
import { type ClientResponse, Unreachable } from "./transport.ts";

test("requests are counted by their answers, with sizes and times", async () => {
  const [metrics, clock] = [createMetrics(), virtualClock()];
  let answer: number | undefined = 201;
  const inner = {
    close: () => undefined,
    send: async (): Promise<ClientResponse> => {
      await clock.advance(300);
      if (answer === undefined) throw new Unreachable("down");
      return { status: answer, headers: { "content-length": "100" }, chunks: (async function* () {})() };
    },
  };
  const transport = counted(inner, requestMetrics(metrics, clock, "h:1"));
  await transport.send({ method: "POST", path: "/x", body: "12345" });
  answer = undefined;
  await assert.rejects(transport.send({ method: "GET", path: "/x" }), Unreachable);
  const reported = metrics.expose();
  for (const line of [
    'rest_client_requests_total{code="201",host="h:1",method="POST"} 1',
    'rest_client_requests_total{code="<error>",host="h:1",method="GET"} 1',
    'rest_client_request_size_bytes_sum{host="h:1",verb="POST"} 5',
    'rest_client_response_size_bytes_sum{host="h:1",verb="POST"} 100',
    'rest_client_request_duration_seconds_sum{host="h:1",verb="GET"} 0.3',
  ])
    assert.ok(reported.split("\n").includes(line), line);
});
