// Parts of the server that have begun to work, told under the names of the reference's post-start hooks. Several
// of its hooks are one part here.
import type { Dialect } from "#dialect";
import type { HealthCheck } from "./health.ts";

export interface StartedParts {
  /** API services of this server are there, and the others are looked after. */
  readonly aggregation: () => boolean;
  /** Definitions are known and their kinds served. */
  readonly definitions: () => boolean;
  /** What plugins look up is in the caches. */
  readonly admission: () => boolean;
  /** Objects are being counted. */
  readonly counting: () => boolean;
  /** Leases of servers that are gone are collected. */
  readonly leaseCollector: () => boolean;
  /** The plain limits on requests in flight are kept; absent where priority and fairness take their place. */
  readonly plainLimits?: (() => boolean) | undefined;
  /** The encryption configuration is followed; absent where it is not to be. */
  readonly encryptionReload?: (() => boolean) | undefined;
  /** The certificate shown to other API servers is followed; absent where there is none. */
  readonly proxyCertificate?: (() => boolean) | undefined;
}

export function startedChecks({ cli, data }: Dialect, parts: StartedParts): readonly HealthCheck[] {
  const hook = (name: string, started: () => boolean): HealthCheck => ({
    name: `poststarthook/${name}`,
    check: () => {
      if (!started()) throw new Error("not finished");
    },
  });
  const { aggregation, definitions, admission, counting, leaseCollector } = parts;
  const { encryptionReload, plainLimits, proxyCertificate } = parts;
  return [
    hook(`start-${cli.apiServer}-admission-initializer`, admission),
    ...(plainLimits ? [hook("max-in-flight-filter", plainLimits)] : []),
    hook("storage-object-count-tracker-hook", counting),
    hook("start-apiextensions-informers", definitions),
    hook("start-apiextensions-controllers", definitions),
    hook("crd-informer-synced", definitions),
    hook(`start-deprecated-${cli.apiServer}-identity-lease-garbage-collector`, leaseCollector),
    ...(proxyCertificate ? [hook("aggregator-reload-proxy-client-cert", proxyCertificate)] : []),
    hook(`start-${data.componentPrefix}aggregator-informers`, aggregation),
    hook("apiservice-registration-controller", aggregation),
    hook("apiservice-status-available-controller", aggregation),
    hook("apiservice-discovery-controller", aggregation),
    hook("apiservice-openapi-controller", aggregation),
    hook("apiservice-openapiv3-controller", aggregation),
    hook(`${cli.apiServer}-autoregistration`, aggregation),
    { ...hook("", aggregation), name: "autoregister-completion" },
    ...(encryptionReload
      ? [hook("start-encryption-provider-config-automatic-reload", encryptionReload)]
      : []),
  ];
}

/** Checks in the order in which the reference adds them; those that it does not have come last. */
export function inOrder(checks: readonly HealthCheck[], { cli, data }: Dialect): readonly HealthCheck[] {
  const order = [
    `start-${cli.apiServer}-admission-initializer`,
    "start-encryption-provider-config-automatic-reload",
    "generic-apiserver-start-informers",
    "priority-and-fairness-config-consumer",
    "priority-and-fairness-filter",
    "max-in-flight-filter",
    "storage-object-count-tracker-hook",
    "start-apiextensions-informers",
    "start-apiextensions-controllers",
    "crd-informer-synced",
    "start-system-namespaces-controller",
    "bootstrap-controller",
    "rbac/bootstrap-roles",
    "scheduling/bootstrap-system-priority-classes",
    "priority-and-fairness-config-producer",
    "start-cluster-authentication-info-controller",
    `start-${cli.apiServer}-identity-lease-controller`,
    `start-deprecated-${cli.apiServer}-identity-lease-garbage-collector`,
    `start-${cli.apiServer}-identity-lease-garbage-collector`,
    "start-legacy-token-tracking-controller",
    "aggregator-reload-proxy-client-cert",
    `start-${data.componentPrefix}aggregator-informers`,
    "apiservice-registration-controller",
    "apiservice-status-available-controller",
    `${cli.apiServer}-autoregistration`,
    "autoregister-completion",
    "apiservice-openapi-controller",
    "apiservice-openapiv3-controller",
    "apiservice-discovery-controller",
  ];
  const places = new Map(order.map((name, at) => [name, at]));
  const placeOf = ({ name }: HealthCheck): number =>
    places.get(name.replace(/^poststarthook\//, "")) ?? order.length;
  return checks.toSorted((a, b) => placeOf(a) - placeOf(b));
}
