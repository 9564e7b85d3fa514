// The feature gates that switch something in the scheduler. All others are accepted and reported as without
// effect. A test holds the list against the places that read gates.
export const schedulerGates: readonly string[] = [
  "InPlacePodVerticalScaling",
  "MatchLabelKeysInPodTopologySpread",
  "MinDomainsInPodTopologySpread",
  "NodeInclusionPolicyInPodTopologySpread",
  "PodDisruptionConditions",
  "PodSchedulingReadiness",
  "ReadWriteOncePod",
];
