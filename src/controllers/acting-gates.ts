// The feature gates that affect controllers. All others are accepted and reported as having no effect. A test
// compares the list with the code that reads gates.
export const controllerGates: readonly string[] = [
  "CronJobsScheduledAnnotation",
  "HPAContainerMetrics",
  "HonorPVReclaimPolicy",
  "JobBackoffLimitPerIndex",
  "JobManagedBy",
  "JobPodFailurePolicy",
  "JobPodReplacementPolicy",
  "JobReadyPods",
  "JobSuccessPolicy",
  "LegacyServiceAccountTokenCleanUp",
  "LogarithmicScaleDown",
  "MaxUnavailableStatefulSet",
  "NodeOutOfServiceVolumeDetach",
  "PodDeletionCost",
  "PodDisruptionConditions",
  "PodIndexLabel",
  "RetroactiveDefaultStorageClass",
  "StatefulSetAutoDeletePVC",
  "StatefulSetStartOrdinal",
  "TopologyAwareHints",
];
