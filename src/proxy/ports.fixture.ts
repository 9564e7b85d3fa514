// Test fixture: a service port with given fields.
import type { ServicePort } from "./service-ports.ts";

export const servicePort = (more: Partial<ServicePort> = {}): ServicePort => ({
  title: "shop/web",
  hash: "0123456789abcdef",
  family: 4,
  protocol: "tcp",
  port: 80,
  clusterAddress: "10.96.0.1",
  externalAddresses: [],
  balancerAddresses: [],
  sourceRanges: undefined,
  nodePort: 0,
  affinitySeconds: 0,
  internalLocal: false,
  externalLocal: false,
  backends: [],
  localBackends: [],
  readyLocalAddresses: [],
  ...more,
});
