// The stages of feature gates in later releases, for features that are implemented. A release before the
// first one of an entry has the gate as declared for 1.27: off, if only a later release knows it.
import type { GateChange } from "./option.ts";

const alpha = (since: number): GateChange => ({ since, stage: "ALPHA", default: false });
const beta = (since: number, on = true): GateChange => ({ since, stage: "BETA", default: on });
const stable = (since: number): GateChange => ({ since, stage: "GA", default: true });
const off = false;

export const laterStages: Readonly<Record<string, readonly GateChange[]>> = {
  AdmissionWebhookMatchConditions: [beta(28), stable(30)],
  AllowServiceLBStatusOnNonLB: [alpha(29)],
  AppArmorFields: [beta(30), stable(31)],
  AuthorizeNodeWithSelectors: [alpha(31), beta(32)],
  AuthorizeWithSelectors: [alpha(31), beta(32)],
  CRDValidationRatcheting: [alpha(28), beta(30)],
  CronJobsScheduledAnnotation: [beta(28), stable(32)],
  CustomResourceFieldSelectors: [alpha(30), beta(31), stable(32)],
  HonorPVReclaimPolicy: [beta(31)],
  JobBackoffLimitPerIndex: [alpha(28), beta(29)],
  JobManagedBy: [alpha(30), beta(32)],
  JobPodReplacementPolicy: [alpha(28), beta(29)],
  JobSuccessPolicy: [alpha(30), beta(31)],
  LegacyServiceAccountTokenCleanUp: [alpha(28), beta(29), stable(30)],
  LoadBalancerIPMode: [alpha(29), beta(30), stable(32)],
  MatchLabelKeysInPodAffinity: [alpha(29), beta(31)],
  PersistentVolumeLastPhaseTransitionTime: [alpha(28), beta(29), stable(31)],
  PodHostIPs: [alpha(28), beta(29), stable(30)],
  PodIndexLabel: [beta(28), stable(32)],
  PodLifecycleSleepAction: [alpha(29), beta(30)],
  PodLifecycleSleepActionAllowZero: [alpha(32)],
  RelaxedEnvironmentVariableValidation: [alpha(30), beta(32)],
  SELinuxMountReadWriteOncePod: [beta(28)],
  ServiceAccountTokenJTI: [alpha(29), beta(30), stable(32)],
  ServiceAccountTokenNodeBinding: [alpha(29), beta(31)],
  ServiceAccountTokenNodeBindingValidation: [alpha(29), beta(30), stable(32)],
  ServiceAccountTokenPodNodeInfo: [alpha(29), beta(30), stable(32)],
  ServiceNodePortStaticSubrange: [beta(28), stable(29)],
  ServiceTrafficDistribution: [alpha(30), beta(31)],
  SidecarContainers: [alpha(28), beta(29)],
  StrictCostEnforcementForVAP: [beta(30, off), stable(32)],
  StrictCostEnforcementForWebhooks: [beta(30, off), stable(32)],
  UnauthenticatedHTTP2DOSMitigation: [beta(29)],
  ValidatingAdmissionPolicy: [beta(28, off), stable(30)],
  WatchList: [beta(32)],
  ZeroLimitedNominalConcurrencyShares: [beta(29, off), stable(30)],
};
