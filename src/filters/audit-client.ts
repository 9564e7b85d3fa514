// The client in audit events: the source addresses of a request and its user agent.
import type { AuditClient } from "#audit";
import { type Call, type Peer, header } from "#http";

const maxUserAgentLength = 1024;
const known = new WeakMap<Peer, { readonly agent: string; readonly client: AuditClient }>();

/** Cached per connection, unless a proxy forwards requests of several clients over it. */
export function auditClient(call: Pick<Call, "headers" | "peer">): AuditClient {
  const { headers, peer } = call;
  const agent = header(headers, "user-agent") ?? "";
  if (headers["x-forwarded-for"] !== undefined || headers["x-real-ip"] !== undefined)
    return { sourceIps: sourceIps(call), userAgent: truncated(agent) };
  const cached = known.get(peer);
  if (cached?.agent === agent) return cached.client;
  const client = { sourceIps: sourceIps(call), userAgent: truncated(agent) };
  known.set(peer, { agent, client });
  return client;
}

const truncated = (agent: string): string =>
  agent.length > maxUserAgentLength ? `${agent.slice(0, maxUserAgentLength)}...TRUNCATED` : agent;

/** Returns the source addresses of a request: those reported by proxies, then the peer itself. */
export function sourceIps({ headers, peer }: Pick<Call, "headers" | "peer">): string[] {
  const found: string[] = [];
  const forwarded = header(headers, "x-forwarded-for");
  if (forwarded !== undefined)
    for (const part of forwarded.split(",").slice(0, maxHops))
      if (isAddress(part.trim())) found.push(part.trim());
  const real = header(headers, "x-real-ip");
  if (real !== undefined && isAddress(real) && !found.includes(real)) found.push(real);
  const address = peer.address.replace(/^::ffff:(?=\d+\.)/, "");
  if (address !== "" && found.at(-1) !== address) found.push(address);
  return found;
}

const maxHops = 32;
/** Longer texts are no addresses, and would take the pattern long. */
const maxAddressLength = 45;
const isAddress = (text: string): boolean => text.length <= maxAddressLength && addressForm.test(text);
const addressForm = /^(?:\d{1,3}(?:\.\d{1,3}){3}|[0-9a-f:.]*:[0-9a-f:.]*)$/i;
