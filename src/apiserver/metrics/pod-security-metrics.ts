// Metrics of Pod Security admission.
import type { AdmissionAttributes, PodSecurityObserver } from "#admission";
import type { Metrics } from "#base";

const request = ["request_operation", "resource", "subresource"];

export function podSecurityMetrics(metrics: Metrics): PodSecurityObserver {
  const counter = (what: string, help: string, ...labels: string[]) =>
    metrics.counter({
      name: `pod_security_${what}_total`,
      help,
      stability: "ALPHA",
      labels: [...labels, ...request],
    });
  const evaluations = counter(
    "evaluations",
    "Number of policy evaluations, by decision, policy level and version, mode and request.",
    "decision",
    "policy_level",
    "policy_version",
    "mode",
  );
  const exemptions = counter("exemptions", "Number of requests exempt from pod security evaluation.");
  const errors = counter(
    "errors",
    "Number of errors that affected evaluation, by whether they were fatal.",
    "fatal",
  );
  // Initialize the common series, so that rates can be computed from the first request on.
  for (const operation of ["create", "update"]) {
    evaluations.with("allow", "privileged", "latest", "enforce", operation, "pod", "");
    for (const resource of ["pod", "controller"]) exemptions.with(operation, resource, "");
  }
  return {
    evaluated: ({ mode, denied, level, version }, attributes) =>
      evaluations.with(denied ? "deny" : "allow", level, version, mode, ...requestOf(attributes)).add(),
    exempt: (attributes) => exemptions.with(...requestOf(attributes)).add(),
    // An unreadable policy falls back to the restricted level, so the error is never fatal.
    unreadable: (attributes) => errors.with("false", ...requestOf(attributes)).add(),
  };
}

const requestOf = ({ operation, resource, subresource }: AdmissionAttributes) =>
  [operation.toLowerCase(), kindOf(resource.resource), subresource] as const;

const kindOf = (resource: string): string =>
  resource === "pods" ? "pod" : resource === "namespaces" ? "namespace" : "controller";
