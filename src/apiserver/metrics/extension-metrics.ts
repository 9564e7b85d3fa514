// Metrics of calls to webhooks and of custom resource definitions.
import type { WebhookExchange } from "#admission";
import type { CustomResourceDefinition } from "#api";
import { type Metrics, exponentialBuckets } from "#base";
import { credentialProgramMetrics } from "#client";
import type { Convert, RuleObserver } from "#extensions";
import { NoAlternativeNames } from "#http";

const sizes = [64, 256, 512, 1024, 4096, 16_384, 65_536, 262_144, 1_048_576, 4_194_304, 16_777_216];

/** Counts webhook calls as requests of a REST client, and logs them from -v=6 on as client libraries do. */
export function clientMetrics(metrics: Metrics): (exchange: WebhookExchange) => void {
  const byHost = { stability: "ALPHA", labels: ["verb", "host"] } as const;
  const total = metrics.counter({
    name: "rest_client_requests_total",
    help: "Number of HTTP requests to other servers, by status code, method and host.",
    stability: "ALPHA",
    labels: ["code", "method", "host"],
  });
  const duration = metrics.histogram({
    name: "rest_client_request_duration_seconds",
    help: "Latency of requests to other servers in seconds, by verb and host.",
    ...byHost,
    buckets: [0.005, 0.025, 0.1, 0.25, 0.5, 1, 2, 4, 8, 15, 30, 60],
  });
  const sent = metrics.histogram({
    name: "rest_client_request_size_bytes",
    help: "Size of requests to other servers in bytes, by verb and host.",
    ...byHost,
    buckets: sizes,
  });
  const received = metrics.histogram({
    name: "rest_client_response_size_bytes",
    help: "Size of responses from other servers in bytes, by verb and host.",
    ...byHost,
    buckets: sizes,
  });
  const failed = certificateMetrics(metrics, "webhooks", "webhooks");
  credentialProgramMetrics(metrics);
  return ({ host, status, error, seconds, sentBytes, receivedBytes }) => {
    failed(error);
    total.with(status === undefined ? "<error>" : String(status), "POST", host).add();
    duration.with("POST", host).observe(seconds);
    sent.with("POST", host).observe(sentBytes);
    if (status !== undefined) received.with("POST", host).observe(receivedBytes);
  };
}

/**
 * Counts connections that failed because of deprecated properties of the server's certificate. The returned
 * function receives every connection error.
 */
export function certificateMetrics(
  metrics: Metrics,
  subsystem: "webhooks" | "kube_aggregator",
  peers: string,
): (error: unknown) => void {
  const failures = (name: string, reason: string) =>
    metrics
      .counter({
        name: `apiserver_${subsystem}_x509_${name}`,
        help: `Number of connections to ${peers} that failed because the server certificate ${reason}.`,
        labels: [],
        stability: "ALPHA",
      })
      .with();
  const withoutNames = failures("missing_san_total", "lacks a subject alternative name");
  const weaklySigned = failures("insecure_sha1_total", "has a SHA-1 signature");
  return (error) => {
    if (error instanceof NoAlternativeNames) withoutNames.add();
    if ((error as NodeJS.ErrnoException | undefined)?.code === "ERR_SSL_CA_MD_TOO_WEAK") weaklySigned.add();
  };
}

/** Measures the latency of conversion webhooks. */
export function measuredConversion(
  metrics: Metrics,
): (of: CustomResourceDefinition, convert: Convert) => Convert {
  const duration = metrics.histogram({
    name: "apiserver_crd_webhook_conversion_duration_seconds",
    help: "Latency of CRD conversion webhooks in seconds, by CRD, versions and success.",
    stability: "ALPHA",
    labels: ["crd_name", "from_version", "to_version", "succeeded"],
    buckets: exponentialBuckets(0.001, 2, 15),
  });
  return (definition, convert) => async (objects, to) => {
    const from = objects.find(({ apiVersion }) => apiVersion !== to)?.apiVersion;
    if (from === undefined) return await convert(objects, to);
    const began = performance.now();
    let succeeded = false;
    try {
      const converted = await convert(objects, to);
      succeeded = true;
      return converted;
    } finally {
      duration
        .with(definition.metadata.name ?? "", from, to, String(succeeded))
        .observe((performance.now() - began) / 1000);
    }
  };
}

/**
 * Latency of the CEL rules of custom resources: compilation of a schema's rules and evaluation of an object.
 */
export function ruleMetrics(metrics: Metrics): RuleObserver {
  const duration = (what: string, help: string) =>
    metrics.histogram({ name: `apiserver_cel_${what}_duration_seconds`, help, stability: "ALPHA" }).with();
  const compilation = duration(
    "compilation",
    "Latency of compiling the CEL validation rules of a schema in seconds.",
  );
  const evaluation = duration(
    "evaluation",
    "Latency of evaluating the CEL validation rules of a schema for an object in seconds.",
  );
  return {
    compiled: (seconds) => compilation.observe(seconds),
    evaluated: (seconds) => evaluation.observe(seconds),
  };
}

/** Counts how often a custom resource definition changed the API documents. */
export function definitionMetrics(
  metrics: Metrics,
): (definition: CustomResourceDefinition, reason: string) => void {
  const v2 = metrics.counter({
    name: "apiextensions_openapi_v2_regeneration_count",
    help: "Number of OpenAPI v2 document regenerations, by CRD that caused them and reason.",
    stability: "ALPHA",
    labels: ["crd", "reason"],
  });
  const v3 = metrics.counter({
    name: "apiextensions_openapi_v3_regeneration_count",
    help: "Number of OpenAPI v3 document regenerations, by group, version, CRD that caused them and reason.",
    stability: "ALPHA",
    labels: ["version", "group", "crd", "reason"],
  });
  return ({ metadata, spec }, reason) => {
    const name = metadata.name ?? "";
    v2.with(name, reason).add();
    for (const version of spec.versions ?? [])
      if (version.served) v3.with(version.name, spec.group, name, reason).add();
  };
}
