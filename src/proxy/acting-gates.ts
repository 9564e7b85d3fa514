// The feature gates that switch something in the proxy. All others are accepted and reported as without
// effect. A test holds the list against the places that read gates.
export const proxyGates: readonly string[] = ["ProxyTerminatingEndpoints", "TopologyAwareHints"];
