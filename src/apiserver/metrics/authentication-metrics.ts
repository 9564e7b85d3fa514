// Outcome and latency of authentication, and usage of tokens.
import type { Authenticator, MaybeIdentity, TokenObserver } from "#authn";
import { type Metrics, exponentialBuckets } from "#base";

/** Wraps the authenticator and counts and times every attempt. */
export function measuredAuthenticator(authenticator: Authenticator, metrics: Metrics): Authenticator {
  const attempts = metrics.counter({
    name: "authentication_attempts",
    help: "Number of authentication attempts, by result.",
    stability: "ALPHA",
    labels: ["result"],
  });
  const duration = metrics.histogram({
    name: "authentication_duration_seconds",
    help: "Latency of authentication in seconds, by result.",
    stability: "ALPHA",
    labels: ["result"],
    buckets: exponentialBuckets(0.001, 2, 15),
  });
  const results = (["success", "failure", "error"] as const).map((result) => {
    const [attempt, seconds] = [attempts.with(result), duration.with(result)];
    return (began: number): void => {
      attempt.add();
      seconds.observe((performance.now() - began) / 1000);
    };
  });
  const [succeeded, failed, errored] = results as [Ended, Ended, Ended];
  const ended = (began: number, found: MaybeIdentity): MaybeIdentity => {
    (found ? succeeded : failed)(began);
    return found;
  };
  return {
    authenticate: (credentials) => {
      const began = performance.now();
      try {
        const found = authenticator.authenticate(credentials);
        if (!(found instanceof Promise)) return ended(began, found);
        return found.then(
          (identity) => ended(began, identity),
          (error: Error) => {
            errored(began);
            throw error;
          },
        );
      } catch (error) {
        errored(began);
        throw error;
      }
    },
  };
}

type Ended = (began: number) => void;

/** Metrics of tokens: which kinds are used, and the hit rate of the token caches. */
export function tokenMetrics(metrics: Metrics): TokenObserver {
  const counter = (name: string, help: string, labels: readonly string[] = []) =>
    metrics.counter({ name, help, labels, stability: "ALPHA" });
  const used = {
    legacy: counter(
      "serviceaccount_legacy_tokens_total",
      "Cumulative count of uses of legacy service account tokens, which are stored in secrets.",
    ).with(),
    stale: counter(
      "serviceaccount_stale_tokens_total",
      "Cumulative count of uses of service account tokens that should already have been refreshed.",
    ).with(),
    valid: counter(
      "serviceaccount_valid_tokens_total",
      "Cumulative count of uses of valid service account tokens.",
    ).with(),
  };
  const requests = counter(
    "authentication_token_cache_request_total",
    "Number of token authentication cache lookups, by status (hit or miss).",
    ["status"],
  );
  const fetches = counter(
    "authentication_token_cache_fetch_total",
    "Number of tokens verified after a cache miss, by status.",
    ["status"],
  );
  const duration = metrics.histogram({
    name: "authentication_token_cache_request_duration_seconds",
    help: "Latency of token authentication in seconds, by cache status (hit or miss).",
    stability: "ALPHA",
    labels: ["status"],
  });
  const active = metrics.gauge({
    name: "authentication_token_cache_active_fetch_count",
    help: "Number of tokens currently being verified, by status.",
    stability: "ALPHA",
    labels: ["status"],
  });
  return {
    used: (kind) => used[kind].add(),
    cached: () => {
      requests.with("hit").add();
      duration.with("hit").observe(0);
    },
    verify: async (run) => {
      const began = performance.now();
      active.with("in_flight").add(1);
      let ok = false;
      try {
        const result = await run();
        ok = true;
        return result;
      } finally {
        active.with("in_flight").add(-1);
        requests.with("miss").add();
        fetches.with(ok ? "ok" : "error").add();
        duration.with("miss").observe((performance.now() - began) / 1000);
      }
    },
  };
}
