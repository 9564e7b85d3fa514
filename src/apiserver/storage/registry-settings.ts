// The settings of a server that affect validation and preparation of objects.
import { type Metrics, minorOf } from "#base";
import type { Dialect } from "#dialect";
import type { Gates } from "#options";
import type { RegistrySettings } from "#registry";
import { issuedMetrics } from "../metrics/issued-metrics.ts";
import { timesMetrics } from "../metrics/times-metrics.ts";
import type { ApiserverSettings } from "../options/settings.ts";

export function registrySettingsFor(
  settings: ApiserverSettings,
  gates: Gates,
  dialect: Dialect,
  metrics: Metrics,
): RegistrySettings {
  const on = (gate: string): boolean => gates.enabled(gate);
  return {
    allowPrivileged: settings.allowPrivileged,
    eventTtlSeconds: settings.eventTtl / 1000,
    matchConditions: on("AdmissionWebhookMatchConditions"),
    expressionRelease: minorOf(settings.expressionRelease),
    podResize: on("InPlacePodVerticalScaling"),
    networkPolicyStatus: on("NetworkPolicyStatus"),
    userNamespaces: on("UserNamespacesStatelessPodsSupport"),
    procMount: on("ProcMountType"),
    seLinuxMounts: on("SELinuxMountReadWriteOncePod"),
    foreignSources: on("CrossNamespaceVolumeDataSource"),
    sourceReferences: on("AnyVolumeDataSource"),
    oncePodVolumes: on("ReadWriteOncePod"),
    appArmor: on("AppArmor"),
    expandedDns: on("ExpandedDNSConfig"),
    deletionCosts: on("PodDeletionCost"),
    relaxedVariables: on("RelaxedEnvironmentVariableValidation"),
    strictPolicyCosts: on("StrictCostEnforcementForVAP"),
    strictWebhookCosts: on("StrictCostEnforcementForWebhooks"),
    ownBalancerStatus: minorOf(settings.release) >= 29 && !on("AllowServiceLBStatusOnNonLB"),
    zeroShares: on("ZeroLimitedNominalConcurrencyShares"),
    zeroSleeps: on("PodLifecycleSleepActionAllowZero"),
    elasticJobs: on("ElasticIndexedJob"),
    failedIndexes: on("JobBackoffLimitPerIndex"),
    podReplacement: on("JobPodReplacementPolicy"),
    jobSuccess: on("JobSuccessPolicy"),
    managedJobs: on("JobManagedBy"),
    resourceClaims: on("DynamicResourceAllocation"),
    scaleToZero: on("HPAScaleToZero"),
    statefulUnavailable: on("MaxUnavailableStatefulSet"),
    retroactiveClass: on("RetroactiveDefaultStorageClass"),
    expansionRecovery: on("RecoverVolumeExpansionFailure"),
    hostIps: on("PodHostIPs"),
    balancerModes: on("LoadBalancerIPMode"),
    phaseTimes: on("PersistentVolumeLastPhaseTransitionTime"),
    disruptionConditions: on("PodDisruptionConditions"),
    garbageCollection: settings.enableGarbageCollector,
    certificateIssued: issuedMetrics(metrics, dialect),
    timesCompared: timesMetrics(metrics),
  };
}
