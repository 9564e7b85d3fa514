// The feature gates that have an effect in this server. All others are accepted and reported as having no
// effect. A test compares the list with the places that read gates.
import { fieldGates } from "#api";
import { policyGates } from "#authz";
import type { Dialect } from "#dialect";
import { builtInStrategies, gatesOfFields } from "#registry";

/** Gates that the code reads by name. */
export const gatesRead = [
  "APIListChunking",
  "APIPriorityAndFairness",
  "APIResponseCompression",
  "APISelfSubjectReview",
  "APIServerIdentity",
  "APIServerTracing",
  "AdmissionWebhookMatchConditions",
  "AggregatedDiscoveryEndpoint",
  "AllowServiceLBStatusOnNonLB",
  "AnyVolumeDataSource",
  "AppArmor",
  "AppArmorFields",
  "AuthorizeNodeWithSelectors",
  "AuthorizeWithSelectors",
  "CRDValidationRatcheting",
  "ComponentSLIs",
  "CrossNamespaceVolumeDataSource",
  "CustomResourceFieldSelectors",
  "CustomResourceValidationExpressions",
  "DynamicResourceAllocation",
  "ElasticIndexedJob",
  "ExpandedDNSConfig",
  "HPAScaleToZero",
  "InPlacePodVerticalScaling",
  "JobBackoffLimitPerIndex",
  "JobManagedBy",
  "JobPodReplacementPolicy",
  "JobSuccessPolicy",
  "KMSv2",
  "LegacyServiceAccountTokenCleanUp",
  "LegacyServiceAccountTokenTracking",
  "LoadBalancerIPMode",
  "MaxUnavailableStatefulSet",
  "NetworkPolicyStatus",
  "OpenAPIEnums",
  "PersistentVolumeLastPhaseTransitionTime",
  "PodDeletionCost",
  "PodDisruptionConditions",
  "PodHostIPs",
  "PodLifecycleSleepActionAllowZero",
  "ProcMountType",
  "ReadWriteOncePod",
  "RecoverVolumeExpansionFailure",
  "RelaxedEnvironmentVariableValidation",
  "RemainingItemCount",
  "RetroactiveDefaultStorageClass",
  "SELinuxMountReadWriteOncePod",
  "SecurityContextDeny",
  "ServiceAccountTokenJTI",
  "ServiceAccountTokenNodeBinding",
  "ServiceAccountTokenNodeBindingValidation",
  "ServiceAccountTokenPodNodeInfo",
  "ServiceNodePortStaticSubrange",
  "StorageVersionHash",
  "StrictCostEnforcementForVAP",
  "StrictCostEnforcementForWebhooks",
  "UnauthenticatedHTTP2DOSMitigation",
  "UserNamespacesStatelessPodsSupport",
  "ValidatingAdmissionPolicy",
  "WatchFromStorageWithoutResourceVersion",
  "WatchList",
  "ZeroLimitedNominalConcurrencyShares",
] as const;

/**
 * All effective gates: those read by name, those that add kinds or fields, and those on which rules of the
 * bootstrap roles depend.
 */
export const actingGates = (dialect: Dialect): readonly string[] => {
  const kinds = builtInStrategies.flatMap(({ gate = [] }) => gate);
  return [...new Set([...gatesRead, ...kinds, ...fieldGates, ...gatesOfFields, ...policyGates(dialect)])];
};
