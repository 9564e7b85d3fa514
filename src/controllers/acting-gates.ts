// The feature gates that affect controllers. All others are accepted and reported as having no effect. A test
// compares the list with the code that reads gates.
export const controllerGates: readonly string[] = [
  "HPAContainerMetrics",
  "HonorPVReclaimPolicy",
  "JobPodFailurePolicy",
  "JobReadyPods",
  "LogarithmicScaleDown",
  "MaxUnavailableStatefulSet",
  "NodeOutOfServiceVolumeDetach",
  "PodDeletionCost",
  "PodDisruptionConditions",
  "RetroactiveDefaultStorageClass",
  "StatefulSetAutoDeletePVC",
  "StatefulSetStartOrdinal",
  "TopologyAwareHints",
];
