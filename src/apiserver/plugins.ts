// The admission plug-ins that run, in their order, over the server's own caches.
import type { IngressClass, LimitRange, Namespace, Pod, PriorityClass, ResourceQuota, RuntimeClass, ServiceAccount, StorageClass } from "#api";
import {
  type AdmissionPlugin,
  certificatePlugins,
  claimResize,
  defaultIngressClass,
  defaultStorageClass,
  defaultTolerationSeconds,
  limitRanger,
  podSecurity,
  priorityPlugin,
  resourceQuota,
  runtimeClassPlugin,
  serviceAccountPlugin,
  storageProtection,
  taintNodesByCondition,
} from "#admission";
import type { EscalationOptions } from "#authz";
import { generatedName } from "#registry";
import { chargeQuota } from "./charge-quota.ts";
import { escalationGuard } from "./escalation-guard.ts";
import { objectsOf } from "./objects.ts";
import { type Core, lifecyclePlugin } from "./server.ts";
import type { ApiserverSettings } from "./settings-of.ts";

const shortestPause = 100;

export function admissionPlugins(core: Core, settings: ApiserverSettings, access: EscalationOptions): readonly AdmissionPlugin[] {
  const { dialect } = core.options;
  const objects = objectsOf(core);
  const all = [
    lifecyclePlugin(core),
    limitRanger(dialect, (namespace) => objects.all<LimitRange>("/limitranges", `${namespace}/`)),
    serviceAccountPlugin({
      dialect,
      find: (namespace, name) => objects.find<ServiceAccount>("/serviceaccounts", `${namespace}/${name}`),
      pause: () => core.clock.sleep(shortestPause * (1 + Math.random())),
      generateName: generatedName,
    }),
    taintNodesByCondition(dialect),
    podSecurity({ dialect, namespace: (name) => objects.find<Namespace>("/namespaces", name), podsIn: (namespace) => objects.all<Pod>("/pods", `${namespace}/`) }),
    priorityPlugin({
      dialect,
      find: (name) => objects.find<PriorityClass>("scheduling/priorityclasses", name),
      all: () => objects.all<PriorityClass>("scheduling/priorityclasses"),
    }),
    defaultTolerationSeconds(dialect, { notReady: settings.defaultNotReadyTolerationSeconds, unreachable: settings.defaultUnreachableTolerationSeconds }),
    defaultStorageClass(dialect, () => objects.all<StorageClass>("storage/storageclasses")),
    storageProtection(dialect),
    claimResize(dialect, (name) => objects.find<StorageClass>("storage/storageclasses", name)),
    runtimeClassPlugin((name) => objects.find<RuntimeClass>("node/runtimeclasses", name)),
    ...certificatePlugins(dialect, access.authorizer),
    defaultIngressClass(dialect, () => objects.all<IngressClass>("networking/ingressclasses")),
    escalationGuard(access, dialect),
    resourceQuota({ dialect, now: () => core.clock.now(), quotasIn: (namespace) => objects.all<ResourceQuota>("/resourcequotas", `${namespace}/`), write: chargeQuota(core) }),
  ];
  return all.filter(({ name }) => !settings.disableAdmissionPlugins.includes(name));
}
