// Metrics of admission policies, under the names of the reference.
import type { Metrics } from "#base";

/** The consequence of a validation that was violated or could not be evaluated. */
export type Enforcement = "allow" | "deny" | "audit" | "warn";

export interface PolicyMetrics {
  /** Counts a new policy. */
  defined(): void;
  enforced(policy: string, binding: string, enforcement: Enforcement, seconds: number): void;
}

/** The state label: every existing policy is active. */
const state = "active";

export function policyMetrics(metrics: Metrics): PolicyMetrics {
  const stability = "ALPHA";
  const labels = ["policy", "policy_binding", "enforcement_action", "state"];
  const checks = metrics.counter({
    name: "apiserver_validating_admission_policy_check_total",
    help: "Number of checks of validating admission policies, by policy, binding, enforcement action and state.",
    labels,
    stability,
  });
  const duration = metrics.histogram({
    name: "apiserver_validating_admission_policy_check_duration_seconds",
    help: "Time in seconds of the expressions of validating admission policies, by policy, binding, enforcement action and state.",
    labels,
    buckets: [0.000_000_5, 0.001, 0.01, 0.1, 1],
    stability,
  });
  const definitions = metrics.counter({
    name: "apiserver_validating_admission_policy_definition_total",
    help: "Number of validating admission policies, by state and enforcement action.",
    labels: ["state", "enforcement_action"],
    stability,
  });
  return {
    defined: () => definitions.with(state, "deny").add(),
    enforced: (policy, binding, enforcement, seconds) => {
      checks.with(policy, binding, enforcement, state).add();
      duration.with(policy, binding, enforcement, state).observe(seconds);
    },
  };
}
