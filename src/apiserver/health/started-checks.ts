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
  const { encryptionReload, proxyCertificate } = parts;
  return [
    hook(`start-${cli.apiServer}-admission-initializer`, admission),
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
