export type { PodLogObserver } from "./connect/agents.ts";
export { endToEnd, forwarded } from "./connect/headers.ts";
export { sendRequest as requestUpstream, pour, relayedHeaders, unpackedBody } from "./connect/relay.ts";
export { tunnel } from "./connect/tunnel.ts";
export { dictionary } from "./connect/spdy.ts";
export { virtualGroups } from "./virtual-groups.ts";
