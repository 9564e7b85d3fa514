// The admission plug-ins that run, in their order, over the server's own caches.
import type {
  IngressClass,
  LimitRange,
  Namespace,
  Node,
  Pod,
  PriorityClass,
  ResourceQuota,
  RuntimeClass,
  ServiceAccount,
  StorageClass,
} from "#api";
import {
  type AdmissionPlugin,
  type OwnerOptions,
  alwaysAdmit,
  alwaysDeny,
  alwaysPullImages,
  certificatePlugins,
  claimResize,
  defaultIngressClass,
  defaultStorageClass,
  defaultTolerationSeconds,
  denyServiceExternalIPs,
  extendedResourceToleration,
  limitHardAntiAffinity,
  limitRanger,
  namespaceAutoProvision,
  namespaceExists,
  nodeRestriction,
  ownerReferencesPermission,
  podNodeSelector,
  podSecurity,
  podTolerationRestriction,
  priorityPlugin,
  resourceQuota,
  runtimeClassPlugin,
  securityContextDeny,
  serviceAccountPlugin,
  storageProtection,
  taintNodesByCondition,
} from "#admission";
import type { EscalationOptions } from "#authz";
import { generatedName } from "#registry";
import { ensure } from "./bootstrap.ts";
import { chargeQuota } from "./charge-quota.ts";
import { escalationGuard } from "./escalation-guard.ts";
import { admissionPlugins as knownPlugins } from "./options/admission.ts";
import { objectsOf } from "./objects.ts";
import { type Core, lifecyclePlugin } from "./server.ts";
import type { ApiserverSettings } from "./settings-of.ts";

const shortestPause = 100;

export function admissionPlugins(
  core: Core,
  settings: ApiserverSettings,
  access: EscalationOptions,
): readonly AdmissionPlugin[] {
  const { dialect } = core.options;
  const objects = objectsOf(core);
  const namespace = (name: string) => objects.find<Namespace>("/namespaces", name);
  const state = async (name: string) => ((await namespace(name)) ? "active" : "absent");
  const all = [
    alwaysAdmit,
    namespaceAutoProvision(state, (name) =>
      ensure(core, core.resources.get("/namespaces")!.endpoints[0]!, {
        metadata: { name, creationTimestamp: null },
        spec: {},
        status: {},
      }),
    ),
    lifecyclePlugin(core),
    namespaceExists(state),
    securityContextDeny,
    limitHardAntiAffinity(dialect),
    limitRanger(dialect, (namespace) => objects.all<LimitRange>("/limitranges", `${namespace}/`)),
    serviceAccountPlugin({
      dialect,
      find: (namespace, name) => objects.find<ServiceAccount>("/serviceaccounts", `${namespace}/${name}`),
      pause: () => core.clock.sleep(shortestPause * (1 + Math.random())),
      generateName: generatedName,
    }),
    nodeRestriction({
      dialect,
      pod: (within, name) => objects.find<Pod>("/pods", `${within}/${name}`),
      node: (name) => objects.find<Node>("/nodes", name),
    }),
    taintNodesByCondition(dialect),
    alwaysPullImages,
    podSecurity({ dialect, namespace, podsIn: (namespace) => objects.all<Pod>("/pods", `${namespace}/`) }),
    podNodeSelector(dialect, namespace),
    priorityPlugin({
      dialect,
      find: (name) => objects.find<PriorityClass>("scheduling/priorityclasses", name),
      all: () => objects.all<PriorityClass>("scheduling/priorityclasses"),
    }),
    defaultTolerationSeconds(dialect, {
      notReady: settings.defaultNotReadyTolerationSeconds,
      unreachable: settings.defaultUnreachableTolerationSeconds,
    }),
    podTolerationRestriction(dialect, namespace),
    extendedResourceToleration(dialect),
    defaultStorageClass(dialect, () => objects.all<StorageClass>("storage/storageclasses")),
    storageProtection(dialect),
    ownerReferencesPermission({
      authorizer: access.authorizer,
      resourcesOf: (apiVersion, kind) => resourcesOf(core, apiVersion, kind),
    }),
    claimResize(dialect, (name) => objects.find<StorageClass>("storage/storageclasses", name)),
    runtimeClassPlugin((name) => objects.find<RuntimeClass>("node/runtimeclasses", name)),
    ...certificatePlugins(dialect, access.authorizer),
    defaultIngressClass(dialect, () => objects.all<IngressClass>("networking/ingressclasses")),
    denyServiceExternalIPs,
    escalationGuard(access, dialect),
    resourceQuota({
      dialect,
      now: () => core.clock.now(),
      quotasIn: (namespace) => objects.all<ResourceQuota>("/resourcequotas", `${namespace}/`),
      write: chargeQuota(core),
    }),
    alwaysDeny,
  ];
  return chosen(all, settings);
}

/**
 * Those that run by default and were not turned off, and those that were asked for; the order of names is of
 * no account.
 */
export const chosen = (
  plugins: readonly AdmissionPlugin[],
  asked: Pick<ApiserverSettings, "enableAdmissionPlugins" | "disableAdmissionPlugins">,
): readonly AdmissionPlugin[] =>
  plugins.filter(({ name }) =>
    knownPlugins[name] === "off"
      ? asked.enableAdmissionPlugins.includes(name)
      : !asked.disableAdmissionPlugins.includes(name),
  );

/** What a kind is called in paths, in every version that has it. */
function resourcesOf(core: Core, apiVersion: string, kind: string): ReturnType<OwnerOptions["resourcesOf"]> {
  for (const resource of core.resources.values()) {
    const found = resource.endpoints.find(
      (endpoint) => endpoint.apiVersion === apiVersion && endpoint.kind === kind,
    );
    if (found)
      return [
        {
          group: found.group,
          version: found.version,
          resource: resource.strategy.resource,
          namespaced: resource.namespaced,
        },
      ];
  }
  return undefined;
}
