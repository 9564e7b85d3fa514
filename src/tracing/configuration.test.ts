import assert from "node:assert/strict";
import { test } from "node:test";
import { EndpointError, collectorEndpoint, samplingRateProblem } from "./configuration.ts";

const endpoints: [given: string, endpoint: string | undefined][] = [
  ["", "http://localhost:4317"],
  ["localhost:4317", "http://localhost:4317"],
  ["collector.example.com", "http://collector.example.com:443"],
  ["[::1]:4317", "http://[::1]:4317"],
  [":4317", "http://localhost:4317"],
  ["dns:///collector:4317", "http://collector:4317"],
  ["dns://8.8.8.8/collector:4317", "http://collector:4317"],
  ["unix:///run/otel.sock", "unix:///run/otel.sock"],
  ["unix:///path#x", "unix:///path%23x"],
  ["unix-abstract:///otel", "unix:///@/otel"],
  ["dns://127.0.0.1:4317", undefined],
  ["http://127.0.0.1:4317", undefined],
  ["unix:path.sock", undefined],
  ["unix://path.sock", undefined],
  ["localhost:http", undefined],
  ["localhost:99999", undefined],
  ["a b:1", undefined],
  ["//x", undefined],
];
for (const [given, endpoint] of endpoints)
  test(`the endpoint ${JSON.stringify(given)} is ${endpoint ?? "refused"}`, () => {
    if (endpoint === undefined) assert.throws(() => collectorEndpoint(given), EndpointError);
    else assert.equal(collectorEndpoint(given), endpoint);
  });

const rates: [rate: number, problem: RegExp | undefined][] = [
  [0, undefined],
  [1_000_000, undefined],
  [-1, /positive/],
  [1_000_001, /less than or equal/],
  [0.5, /whole number/],
];
for (const [rate, problem] of rates)
  test(`a sampling rate of ${rate} is ${problem ? "refused" : "accepted"}`, () => {
    const found = samplingRateProblem(rate);
    if (problem) assert.match(found ?? "", problem);
    else assert.equal(found, undefined);
  });
