// The feature gates that affect the scheduler. All others are accepted and reported as having no effect. A
// test compares the list with the code that reads gates.
export const schedulerGates: readonly string[] = [
  "InPlacePodVerticalScaling",
  "MatchLabelKeysInPodTopologySpread",
  "MinDomainsInPodTopologySpread",
  "NodeInclusionPolicyInPodTopologySpread",
  "PodDisruptionConditions",
  "PodSchedulingReadiness",
  "ReadWriteOncePod",
];
