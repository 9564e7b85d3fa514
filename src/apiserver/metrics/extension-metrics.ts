// Metrics of calls to webhooks and of custom resource definitions.
import type { WebhookExchange } from "#admission";
import type { CustomResourceDefinition } from "#api";
import type { Metrics } from "#base";
import { credentialProgramMetrics } from "#client";
import type { Convert, RuleObserver } from "#extensions";
import { NoAlternativeNames } from "#http";

const sizes = [64, 256, 512, 1024, 4096, 16_384, 65_536, 262_144, 1_048_576, 4_194_304, 16_777_216];

/** Counts webhook calls as requests of a REST client, and logs them from -v=6 on as client libraries do. */
export function clientMetrics(metrics: Metrics): (exchange: WebhookExchange) => void {
  const byHost = { stability: "ALPHA", labels: ["verb", "host"] } as const;
  const total = metrics.counter({
    name: "rest_client_requests_total",
    help: "Requests to other servers, by status code, method and host.",
    stability: "ALPHA",
    labels: ["code", "method", "host"],
  });
  const duration = metrics.histogram({
    name: "rest_client_request_duration_seconds",
    help: "Seconds until other servers answered.",
    ...byHost,
    buckets: [0.005, 0.025, 0.1, 0.25, 0.5, 1, 2, 4, 8, 15, 30, 60],
  });
  const sent = metrics.histogram({
    name: "rest_client_request_size_bytes",
    help: "Bytes sent to other servers.",
    ...byHost,
    buckets: sizes,
  });
  const received = metrics.histogram({
    name: "rest_client_response_size_bytes",
    help: "Bytes received from other servers.",
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
        help: `Connections to ${peers} that failed because their certificate ${reason}.`,
        labels: [],
        stability: "ALPHA",
      })
      .with();
  const withoutNames = failures("missing_san_total", "has no subject alternative names");
  const weaklySigned = failures("insecure_sha1_total", "is signed by way of SHA-1");
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
    help: "Seconds that conversion webhooks took.",
    stability: "ALPHA",
    labels: ["crd_name", "from_version", "to_version", "succeeded"],
    buckets: Array.from({ length: 15 }, (_, power) => Number((0.001 * 2 ** power).toPrecision(12))),
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
  const compilation = duration("compilation", "Seconds that it took to compile the rules of a schema.");
  const evaluation = duration("evaluation", "Seconds that the rules of a schema took to judge an object.");
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
    help: "Changes of the OpenAPI v2 document by definitions of custom resources.",
    stability: "ALPHA",
    labels: ["crd", "reason"],
  });
  const v3 = metrics.counter({
    name: "apiextensions_openapi_v3_regeneration_count",
    help: "Changes of OpenAPI v3 documents by definitions of custom resources.",
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
