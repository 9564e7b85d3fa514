// The enabled admission plug-ins in their order of execution, reading from the server's caches.
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
  eventRateLimit,
  extendedResourceToleration,
  imagePolicyWebhook,
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
import { generatedName, type Resource, type ServerObjects } from "#registry";
import { webhook, webhookConnection } from "#client";
import { componentName } from "#dialect";
import type { Gates } from "#options";
import { chargeQuota } from "./charge-quota.ts";
import type { PluginConfigs } from "./config-file.ts";
import {
  eventLimits,
  imagePolicy,
  limitedResources,
  nodeSelectors,
  securityDefaults,
  tolerations,
} from "./plugin-settings.ts";
import { escalationGuard } from "./escalation-guard.ts";
import { admissionPlugins as knownPlugins } from "../options/admission.ts";
import { lifecyclePlugin } from "./namespace-lifecycle.ts";
import type { DynamicAdmissionPlugins } from "./webhooks.ts";
import type { ApiserverSettings } from "../options/settings.ts";

const minRetryMilliseconds = 100;

interface PluginOptions {
  readonly settings: ApiserverSettings;
  readonly gates: Gates;
  readonly access: EscalationOptions;
  readonly dynamicPlugins: DynamicAdmissionPlugins;
  readonly configs: PluginConfigs;
}

export function admissionPlugins(
  server: ServerObjects,
  resourceList: readonly Resource[],
  { settings, gates, access, dynamicPlugins, configs }: PluginOptions,
): readonly AdmissionPlugin[] {
  const { dialect, resources, clock } = server;
  const isOn = (name: string): boolean => settings.enableAdmissionPlugins.includes(name);
  const security = configs.read("PodSecurity", securityDefaults(dialect));
  const namespace = (name: string) => resources.namespaces.get(name);
  const state = async (name: string) => ((await namespace(name)) ? "active" : "absent");
  const all = [
    alwaysAdmit,
    namespaceAutoProvision(state, (name) =>
      server.writer.ensure(server.resources.namespaces.endpoint, {
        metadata: { name, creationTimestamp: null },
        spec: {},
        status: {},
      }),
    ),
    lifecyclePlugin(dialect, resources.namespaces),
    namespaceExists(state),
    securityContextDeny,
    limitHardAntiAffinity(dialect),
    limitRanger(dialect, (namespace) => resources.limitRanges.list(`${namespace}/`)),
    serviceAccountPlugin({
      dialect,
      find: (namespace, name) => resources.serviceAccounts.get(`${namespace}/${name}`),
      pause: () => server.clock.sleep(minRetryMilliseconds * (1 + Math.random())),
      generateName: generatedName,
    }),
    nodeRestriction({
      dialect,
      pod: (within, name) => resources.pods.get(`${within}/${name}`),
      node: (name) => resources.nodes.get(name),
      expansionRecovery: gates.enabled("RecoverVolumeExpansionFailure"),
    }),
    taintNodesByCondition(dialect),
    alwaysPullImages,
    ...(isOn("ImagePolicyWebhook") ? [imagePolicyPlugin(server, configs, settings)] : []),
    podSecurity({
      dialect,
      namespace,
      podsIn: (namespace) => resources.pods.list(`${namespace}/`),
      ...security,
      observer: dynamicPlugins.podSecurityObserver,
    }),
    podNodeSelector(dialect, namespace, configs.read("PodNodeSelector", nodeSelectors)),
    priorityPlugin({
      dialect,
      find: (name) => resources.priorityClasses.get(name),
      all: () => resources.priorityClasses.list(),
    }),
    defaultTolerationSeconds(dialect, {
      notReady: settings.defaultNotReadyTolerationSeconds,
      unreachable: settings.defaultUnreachableTolerationSeconds,
    }),
    podTolerationRestriction(
      dialect,
      namespace,
      configs.read("PodTolerationRestriction", tolerations(dialect)),
    ),
    ...(isOn("EventRateLimit")
      ? [eventRateLimit(configs.read("EventRateLimit", eventLimits(dialect)), clock)]
      : []),
    extendedResourceToleration(dialect),
    defaultStorageClass(dialect, () => resources.storageClasses.list()),
    storageProtection(dialect),
    ownerReferencesPermission({
      authorizer: access.authorizer,
      resourcesOf: (apiVersion, kind) => resourcesOf(resourceList, apiVersion, kind),
    }),
    claimResize(dialect, (name) => resources.storageClasses.get(name)),
    runtimeClassPlugin((name) => resources.runtimeClasses.get(name)),
    ...certificatePlugins(dialect, access.authorizer),
    defaultIngressClass(dialect, () => resources.ingressClasses.list()),
    denyServiceExternalIPs,
    escalationGuard(access, dialect),
    dynamicPlugins.mutating,
    ...dynamicPlugins.policies,
    dynamicPlugins.validating,
    resourceQuota({
      dialect,
      now: () => server.clock.now(),
      quotasIn: (namespace) => resources.resourceQuotas.list(`${namespace}/`),
      limited: configs.read("ResourceQuota", limitedResources(dialect)),
      podResize: gates.enabled("InPlacePodVerticalScaling"),
      write: chargeQuota(server),
    }),
    alwaysDeny,
  ];
  return enabledPlugins(all, settings);
}

function imagePolicyPlugin(
  { dialect, clock, onError }: ServerObjects,
  configs: PluginConfigs,
  { requestTimeout }: Pick<ApiserverSettings, "requestTimeout">,
): AdmissionPlugin {
  return configs.read("ImagePolicyWebhook", (config) => {
    const { clientConfigFile, backoffMilliseconds, ...policy } = imagePolicy(config);
    return imagePolicyWebhook({
      ...policy,
      dialect,
      clock,
      webhook: webhook({
        needsBody: true,
        connection: webhookConnection(clientConfigFile),
        clock,
        userAgent: componentName(dialect, "apiserver"),
        initialBackoffMilliseconds: backoffMilliseconds,
        deadlineMilliseconds: requestTimeout,
      }),
      onError: (error) => onError("the image policy webhook could not be called", { error: error.message }),
    });
  });
}

/**
 * Returns the plug-ins that are on by default and not disabled, and those that are enabled explicitly. The
 * order of names in the flags does not matter.
 */
export const enabledPlugins = (
  plugins: readonly AdmissionPlugin[],
  flags: Pick<ApiserverSettings, "enableAdmissionPlugins" | "disableAdmissionPlugins">,
): readonly AdmissionPlugin[] =>
  plugins.filter(({ name }) =>
    knownPlugins[name] === "off"
      ? flags.enableAdmissionPlugins.includes(name)
      : !flags.disableAdmissionPlugins.includes(name),
  );

/** Returns the resource of a kind, in every version that serves the kind. */
function resourcesOf(
  all: readonly Resource[],
  apiVersion: string,
  kind: string,
): ReturnType<OwnerOptions["resourcesOf"]> {
  for (const resource of all) {
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
