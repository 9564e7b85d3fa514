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
  return {
    allowPrivileged: settings.allowPrivileged,
    eventTtlSeconds: settings.eventTtl / 1000,
    matchConditions: gates.enabled("AdmissionWebhookMatchConditions"),
    expressionRelease: minorOf(settings.expressionRelease),
    podResize: gates.enabled("InPlacePodVerticalScaling"),
    networkPolicyStatus: gates.enabled("NetworkPolicyStatus"),
    userNamespaces: gates.enabled("UserNamespacesStatelessPodsSupport"),
    procMount: gates.enabled("ProcMountType"),
    seLinuxMounts: gates.enabled("SELinuxMountReadWriteOncePod"),
    foreignSources: gates.enabled("CrossNamespaceVolumeDataSource"),
    sourceReferences: gates.enabled("AnyVolumeDataSource"),
    oncePodVolumes: gates.enabled("ReadWriteOncePod"),
    appArmor: gates.enabled("AppArmor"),
    appArmorFields: gates.enabled("AppArmorFields"),
    expandedDns: gates.enabled("ExpandedDNSConfig"),
    deletionCosts: gates.enabled("PodDeletionCost"),
    relaxedVariables: gates.enabled("RelaxedEnvironmentVariableValidation"),
    strictPolicyCosts: gates.enabled("StrictCostEnforcementForVAP"),
    strictWebhookCosts: gates.enabled("StrictCostEnforcementForWebhooks"),
    ownBalancerStatus: minorOf(settings.release) >= 29 && !gates.enabled("AllowServiceLBStatusOnNonLB"),
    zeroShares: gates.enabled("ZeroLimitedNominalConcurrencyShares"),
    zeroSleeps: gates.enabled("PodLifecycleSleepActionAllowZero"),
    elasticJobs: gates.enabled("ElasticIndexedJob"),
    failedIndexes: gates.enabled("JobBackoffLimitPerIndex"),
    podReplacement: gates.enabled("JobPodReplacementPolicy"),
    jobSuccess: gates.enabled("JobSuccessPolicy"),
    managedJobs: gates.enabled("JobManagedBy"),
    resourceClaims: gates.enabled("DynamicResourceAllocation"),
    scaleToZero: gates.enabled("HPAScaleToZero"),
    statefulUnavailable: gates.enabled("MaxUnavailableStatefulSet"),
    retroactiveClass: gates.enabled("RetroactiveDefaultStorageClass"),
    expansionRecovery: gates.enabled("RecoverVolumeExpansionFailure"),
    hostIps: gates.enabled("PodHostIPs"),
    balancerModes: gates.enabled("LoadBalancerIPMode"),
    phaseTimes: gates.enabled("PersistentVolumeLastPhaseTransitionTime"),
    disruptionConditions: gates.enabled("PodDisruptionConditions"),
    garbageCollection: settings.enableGarbageCollector,
    certificateIssued: issuedMetrics(metrics, dialect),
    timesCompared: timesMetrics(metrics),
  };
}
