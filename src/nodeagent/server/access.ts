// Authentication and authorization of requests to the agent's server: client certificates, token reviews and
// subject access reviews by the API server.
import { LRUCache } from "lru-cache";
import {
  type Authenticator,
  BadCredential,
  type Identity,
  type TokenMethod,
  type User,
  authenticatorOf,
  bearerToken,
  bearerTokens,
  certificateExpirationMetric,
  clientCertificateVerifier,
  clientCertificates,
  trustBundleFile,
} from "#authn";
import { ApiError, type Clock, type Log, type Metrics } from "#base";
import { type ApiClient, kinds } from "#client";
import { type Call, type Reply, header, headerList } from "#http";
import { text } from "./replies.ts";

export interface AccessOptions {
  readonly clock: Clock;
  readonly log: Log;
  readonly nodeName: string;
  /** Needed for token and access reviews. */
  readonly client: ApiClient | undefined;
  readonly anonymous: boolean;
  /** Empty to disable client certificates. */
  readonly clientCaFile: string;
  readonly tokenReviews: boolean;
  readonly tokenReviewTtl: number;
  readonly authorization: "AlwaysAllow" | "Webhook";
  readonly allowedTtl: number;
  readonly deniedTtl: number;
  readonly metrics?: Metrics;
}

export interface Access {
  /** Returns undefined if the call is allowed; otherwise the response that rejects it. */
  refuse(call: Call): Promise<Reply | undefined>;
  stop(): void;
}

const reviewCacheSize = 4096;
const trustCheckMilliseconds = 60_000;
const verbs: Readonly<Record<string, string>> = {
  GET: "get",
  POST: "create",
  PUT: "update",
  PATCH: "patch",
  DELETE: "delete",
};

export function access(options: AccessOptions): Access {
  const { clock, log } = options;
  const reviewMetricsFor = reviewMetrics(options);
  const methods: Authenticator[] = [];
  let stop = (): void => undefined;
  if (options.clientCaFile) {
    const trust = trustBundleFile(options.clientCaFile);
    stop = trust.follow(clock, trustCheckMilliseconds, (change) => {
      if ("error" in change)
        log.error("failed to reload client CA file; keeping the current one", {
          error: (change.error as Error).message,
        });
    });
    methods.push(
      clientCertificates(
        clientCertificateVerifier({ trust, clock }),
        options.metrics && certificateExpirationMetric(options.metrics, clock),
      ),
    );
  }
  if (options.tokenReviews && options.client)
    methods.push(bearerTokens([tokenReviews(options.client, options, reviewMetricsFor("authn"))], []));
  const authenticator = authenticatorOf(methods, { anonymous: options.anonymous });
  const allowed =
    options.authorization === "AlwaysAllow"
      ? () => Promise.resolve(true)
      : accessReviews(options, reviewMetricsFor("authz"));
  return {
    stop: () => stop(),
    refuse: async (call) => {
      let identity: Identity | undefined;
      try {
        identity = await authenticator.authenticate({
          bearerToken: bearerToken(header(call.headers, "authorization")),
          headers: (name) => headerList(call.headers, name),
          headerNames: () => Object.keys(call.headers),
          certificates: call.peer.certificates(),
        });
      } catch (error) {
        if (!(error instanceof BadCredential))
          log.error("failed to authenticate request", { error: (error as Error).message });
      }
      if (!identity) return text(401, "Unauthorized");
      const attributes = { verb: verbs[call.method] ?? "", subresource: subresourceOf(call.path) };
      try {
        if (await allowed(identity.user, attributes)) return undefined;
      } catch (error) {
        const message = `Authorization error (user=${identity.user.name}, verb=${attributes.verb}, resource=nodes, subresource=${attributes.subresource})`;
        log.error("failed to authorize request", {
          user: identity.user.name,
          error: (error as Error).message,
        });
        return text(500, message);
      }
      return text(
        403,
        `Forbidden (user=${identity.user.name}, verb=${attributes.verb}, resource=nodes, subresource=${attributes.subresource})`,
      );
    },
  };
}

function subresourceOf(path: string): string {
  const isBelow = (prefix: string): boolean => path === prefix || path.startsWith(`${prefix}/`);
  return isBelow("/stats") ? "stats" : isBelow("/metrics") ? "metrics" : isBelow("/logs") ? "log" : "proxy";
}

type MeasureReview = <T>(ask: () => Promise<T>) => Promise<T>;

/** Counts and times the review requests to the API server by status code. */
function reviewMetrics({
  metrics,
  clock,
}: Pick<AccessOptions, "metrics" | "clock">): (what: "authn" | "authz") => MeasureReview {
  return (what) => {
    const labels = ["code"];
    const total = metrics?.counter({
      name: `apiserver_delegated_${what}_request_total`,
      help: "Number of review requests sent to the API server, by status code.",
      labels,
      stability: "ALPHA",
    });
    const took = metrics?.histogram({
      name: `apiserver_delegated_${what}_request_duration_seconds`,
      help: "Latency of review requests sent to the API server in seconds, by status code.",
      labels,
      stability: "ALPHA",
    });
    return async (ask) => {
      const at = clock.monotonic();
      let code = "201";
      try {
        return await ask();
      } catch (error) {
        code = error instanceof ApiError ? String(error.code) : "<error>";
        throw error;
      } finally {
        total?.with(code).add();
        took?.with(code).observe((clock.monotonic() - at) / 1000);
      }
    };
  };
}

interface Reviewed {
  readonly until: number;
}

/** Authenticates tokens by token reviews of the API server, with a cache. */
function tokenReviews(
  client: ApiClient,
  { clock, tokenReviewTtl }: Pick<AccessOptions, "clock" | "tokenReviewTtl">,
  measured: MeasureReview,
): TokenMethod {
  const kept = new LRUCache<string, Reviewed & { readonly identity: Identity | undefined }>({
    max: reviewCacheSize,
  });
  return {
    identify: async (token) => {
      const known = kept.get(token);
      if (known && clock.monotonic() < known.until) return known.identity;
      const { status } = await measured(() =>
        client.of(kinds.tokenReviews).create({ metadata: {}, spec: { token } }),
      );
      const user = status?.authenticated ? status.user : undefined;
      const identity = user && {
        user: {
          name: user.username ?? "",
          ...(user.uid && { uid: user.uid }),
          groups: user.groups ?? [],
          ...(user.extra && { extra: user.extra }),
        },
      };
      if (tokenReviewTtl > 0) kept.set(token, { identity, until: clock.monotonic() + tokenReviewTtl });
      return identity;
    },
  };
}

function accessReviews(
  { client, clock, nodeName, allowedTtl, deniedTtl }: AccessOptions,
  measured: MeasureReview,
): (user: User, attributes: { verb: string; subresource: string }) => Promise<boolean> {
  if (!client)
    throw new Error(
      "authorization by the API server requires an API server: use authorization mode AlwaysAllow or specify a client configuration",
    );
  const kept = new LRUCache<string, Reviewed & { readonly allowed: boolean }>({ max: reviewCacheSize });
  return async (user, { verb, subresource }) => {
    const spec = {
      resourceAttributes: {
        ...(verb && { verb }),
        version: "v1",
        resource: "nodes",
        subresource,
        name: nodeName,
      },
      user: user.name,
      groups: [...user.groups],
      ...(user.extra && { extra: structuredClone(user.extra) as Record<string, string[]> }),
      ...(user.uid && { uid: user.uid }),
    };
    const key = JSON.stringify(spec);
    const known = kept.get(key);
    if (known && clock.monotonic() < known.until) return known.allowed;
    const { status } = await measured(() =>
      client.of(kinds.subjectAccessReviews).create({ metadata: {}, spec }),
    );
    const allowed = status?.allowed === true && status.denied !== true;
    const ttl = allowed ? allowedTtl : deniedTtl;
    // Large reviews are not cached: they could fill memory, and legitimate clients do not send them
    // repeatedly.
    if (ttl > 0 && key.length < 10_000) kept.set(key, { allowed, until: clock.monotonic() + ttl });
    return allowed;
  };
}
