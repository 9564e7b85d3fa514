export { proxyGates } from "./acting-gates.ts";
export { type IptablesOptions } from "./iptables.ts";
export { routeLoopback } from "./loopback-routing.ts";
export { type NftablesOptions } from "./nftables.ts";
export {
  type CommandOutcome,
  type PacketFilter,
  type RunCommand,
  iptablesFilter,
  nftablesFilter,
  runCommand,
} from "./packet-filter.ts";
export { syncRoutes } from "./pod-routes.ts";
export { type ProxyOptions, type ProxySettings, runProxy } from "./proxy.ts";
export { type Backend, type Family, type ServicePort } from "./service-ports.ts";
