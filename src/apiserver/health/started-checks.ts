// Readiness of parts of the server, reported under the names of the reference's post-start hooks. Several of
// those hooks correspond to one part here.
import type { Dialect } from "#dialect";
import type { HealthCheck } from "./health.ts";

export interface StartedParts {
  /** The server's own API services exist, and the controllers of the others are running. */
  readonly aggregation: () => boolean;
  /** Definitions are loaded and their resources served. */
  readonly definitions: () => boolean;
  /** The caches that admission plug-ins read are filled. */
  readonly admission: () => boolean;
  /** The object count tracker is running. */
  readonly counting: () => boolean;
  /** The garbage collector of expired server leases is running. */
  readonly leaseCollector: () => boolean;
  /** The max-in-flight limits are enforced; absent if priority and fairness replaces them. */
  readonly plainLimits?: (() => boolean) | undefined;
  /** The encryption configuration is watched for changes; absent if reloading is off. */
  readonly encryptionReload?: (() => boolean) | undefined;
  /** The client certificate for aggregated API servers is watched for changes; absent if there is none. */
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

/** Sorts checks into the order of the reference; checks it does not have come last. */
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
