// The feature gates that switch something in the controllers. All others are accepted and reported as without
// effect. A test holds the list against the places that read gates.
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
