import assert from "node:assert/strict";
import { test } from "node:test";
import { createMetrics } from "#base";
import { egressMetrics } from "./egress-metrics.ts";

test("connections through proxies are counted by transport and stage of failure", () => {
  const metrics = createMetrics();
  const observer = egressMetrics(metrics);
  for (const transport of ["tcp", "uds"] as const) observer(transport).started();
  observer("uds").opened(0.2);
  observer("tcp").failed("proxy");
  const text = metrics.expose();
  const of = (name: string, labels: string): string =>
    `apiserver_egress_dialer_dial_${name}{protocol="http_connect",${labels}}`;
  for (const line of [
    `${of("start_total", 'transport="tcp"')} 1`,
    `${of("start_total", 'transport="uds"')} 1`,
    `${of("duration_seconds_bucket", 'transport="uds",le="0.1"')} 0`,
    `${of("duration_seconds_bucket", 'transport="uds",le="0.5"')} 1`,
    `${of("failure_count", 'stage="proxy",transport="tcp"')} 1`,
  ])
    assert.ok(text.includes(line), `${line}\n${text}`);
});
