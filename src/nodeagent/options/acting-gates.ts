// The feature gates that switch something in the agent, in addition to those that settings depend on. All
// others are accepted and reported as having no effect. A test checks the list against the places that read
// gates.
export const agentGates: readonly string[] = [
  "CPUManager",
  "CPUManagerPolicyAlphaOptions",
  "CPUManagerPolicyBetaOptions",
  "ComponentSLIs",
  "ConsistentHTTPGetHandlers",
  "ContainerCheckpoint",
  "EventedPLEG",
  "ExecProbeTimeout",
  "GracefulNodeShutdown",
  "GracefulNodeShutdownBasedOnPodPriority",
  "InPlacePodVerticalScaling",
  "MemoryQoS",
  "NodeAgentPodResources",
  "NodeAgentPodResourcesGet",
  "NodeAgentPodResourcesGetAllocatable",
  "NodeLogQuery",
  "NodeSwap",
  "PodAndContainerStatsFromCRI",
  "PodDisruptionConditions",
  "PodHasNetworkCondition",
  "SizeMemoryBackedVolumes",
  "TopologyManager",
  "TopologyManagerPolicyAlphaOptions",
  "UserNamespacesStatelessPodsSupport",
];
