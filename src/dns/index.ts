export { type DnsOptions, type DnsSettings, startDns } from "./dns.ts";
export { type RunningDnsServer } from "./dns-server.ts";
export { type Upstream } from "./forwarder.ts";
export { parseUpstream } from "./resolver-file.ts";
