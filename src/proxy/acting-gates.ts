// The feature gates that affect the proxy. All others are accepted and reported as having no effect. A test
// compares the list with the code that reads gates.
export const proxyGates: readonly string[] = ["ProxyTerminatingEndpoints", "TopologyAwareHints"];
