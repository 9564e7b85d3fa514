// The admission plug-ins that run, in their order, over the server's own caches.
import type { PriorityClass, RuntimeClass, ServiceAccount } from "#api";
import { type AdmissionPlugin, defaultTolerationSeconds, priorityPlugin, runtimeClassPlugin, serviceAccountPlugin, taintNodesByCondition } from "#admission";
import type { EscalationOptions } from "#authz";
import { generatedName } from "#registry";
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
    serviceAccountPlugin({
      dialect,
      find: (namespace, name) => objects.find<ServiceAccount>("/serviceaccounts", `${namespace}/${name}`),
      pause: () => core.clock.sleep(shortestPause * (1 + Math.random())),
      generateName: generatedName,
    }),
    taintNodesByCondition(dialect),
    priorityPlugin({
      dialect,
      find: (name) => objects.find<PriorityClass>("scheduling/priorityclasses", name),
      all: () => objects.all<PriorityClass>("scheduling/priorityclasses"),
    }),
    defaultTolerationSeconds(dialect, { notReady: settings.defaultNotReadyTolerationSeconds, unreachable: settings.defaultUnreachableTolerationSeconds }),
    runtimeClassPlugin((name) => objects.find<RuntimeClass>("node/runtimeclasses", name)),
    escalationGuard(access, dialect),
  ];
  return all.filter(({ name }) => !settings.disableAdmissionPlugins.includes(name));
}
