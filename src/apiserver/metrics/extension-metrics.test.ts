import assert from "node:assert/strict";
import { test } from "node:test";
import type { CustomResourceDefinition } from "#api";
import { createMetrics } from "#base";
import { NoAlternativeNames } from "#http";
import type { ApiObject } from "#registry";
import {
  certificateMetrics,
  definitionMetrics,
  clientMetrics,
  measuredConversion,
  ruleMetrics,
} from "./extension-metrics.ts";

test("webhook calls are counted as client requests", () => {
  const metrics = createMetrics();
  const exchanged = clientMetrics(metrics);
  const exchange = { url: "https://h/", requestHeaders: () => [], requestBody: "", confidential: false };
  exchanged({ ...exchange, host: "h:1", status: 200, seconds: 0.1, sentBytes: 100, receivedBytes: 300 });
  exchanged({ ...exchange, host: "h:1", seconds: 1, sentBytes: 100, receivedBytes: 0 });
  const error = new NoAlternativeNames("no names");
  exchanged({ ...exchange, host: "h:2", error, seconds: 1, sentBytes: 100, receivedBytes: 0 });
  const text = metrics.expose();
  assert.match(text, /apiserver_webhooks_x509_missing_san_total 1/);
  assert.match(text, /apiserver_webhooks_x509_insecure_sha1_total 0/);
  assert.match(text, /rest_client_requests_total\{code="200",host="h:1",method="POST"\} 1/);
  assert.match(text, /rest_client_requests_total\{code="<error>",host="h:1",method="POST"\} 1/);
  assert.match(text, /rest_client_request_duration_seconds_count\{host="h:1",verb="POST"\} 2/);
  assert.match(text, /rest_client_response_size_bytes_sum\{host="h:1",verb="POST"\} 300/);
});

test("failed connections to aggregated servers are counted if the certificate is the cause", () => {
  const metrics = createMetrics();
  const failed = certificateMetrics(metrics, "kube_aggregator", "aggregated servers");
  failed(new NoAlternativeNames("no names"));
  failed(Object.assign(new Error("weak"), { code: "ERR_SSL_CA_MD_TOO_WEAK" }));
  failed(new Error("refused"));
  assert.match(metrics.expose(), /apiserver_kube_aggregator_x509_missing_san_total 1/);
  assert.match(metrics.expose(), /apiserver_kube_aggregator_x509_insecure_sha1_total 1/);
});

test("webhook conversions are timed by version and outcome; objects that need no conversion are not", async () => {
  const metrics = createMetrics();
  const definition = { metadata: { name: "things.g" } } as CustomResourceDefinition;
  const objects = [{ apiVersion: "g/v1" }] as unknown as ApiObject[];
  const measured = measuredConversion(metrics);
  await measured(definition, async (all) => all)(objects, "g/v1");
  await measured(definition, async (all) => all)(objects, "g/v2");
  await assert.rejects(measured(definition, () => Promise.reject(new Error("no")))(objects, "g/v2"));
  const counted: string[] = [...metrics.expose().matchAll(/_count(\{.*\} \d)/g)].map((found) => found[1]!);
  const labels = (succeeded: boolean): string =>
    `{crd_name="things.g",from_version="g/v1",succeeded="${succeeded}",to_version="g/v2"} 1`;
  assert.deepEqual(counted.toSorted(), [labels(false), labels(true)]);
});

test("compilation and evaluation of custom resource rules are timed", () => {
  const metrics = createMetrics();
  const observer = ruleMetrics(metrics);
  observer.compiled(0.02);
  observer.evaluated(0.001);
  observer.evaluated(0.002);
  const text = metrics.expose();
  assert.match(text, /^apiserver_cel_compilation_duration_seconds_count 1$/m);
  assert.match(text, /^apiserver_cel_evaluation_duration_seconds_count 2$/m);
});

test("changes of the API's documents are counted by definition and version", () => {
  const metrics = createMetrics();
  const spec = {
    group: "example.test",
    versions: [
      { name: "v1", served: true },
      { name: "v2", served: false },
    ],
  };
  const definition = {
    metadata: { name: "widgets.example.test" },
    spec,
  } as unknown as CustomResourceDefinition;
  definitionMetrics(metrics)(definition, "add");
  const text = metrics.expose();
  for (const line of [
    'apiextensions_openapi_v2_regeneration_count{crd="widgets.example.test",reason="add"} 1',
    'apiextensions_openapi_v3_regeneration_count{crd="widgets.example.test",group="example.test",reason="add",version="v1"} 1',
  ])
    assert.ok(text.includes(`${line}\n`), line);
  assert.ok(!text.includes('version="v2"'));
});
