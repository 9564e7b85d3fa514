// Metrics of the DNS server.
import type { Metrics } from "#base";
import type { Forwarder } from "./forwarder.ts";
import { type Query, recordTypes } from "./wire.ts";

const typeNames = new Map<number, string>(Object.entries(recordTypes).map(([name, type]) => [type, name]));
const codeNames = ["NOERROR", "FORMERR", "SERVFAIL", "NXDOMAIN", "NOTIMP", "REFUSED"];

export function dnsMetrics(
  metrics: Metrics,
  forward: Pick<Forwarder, "cacheHits" | "cacheMisses">,
): (query: Query, code: number) => void {
  const replies = metrics.counter({
    name: "dns_responses_total",
    help: "Number of DNS responses, by query type and response code.",
    labels: ["type", "rcode"],
  });
  const cache = metrics.gauge({
    name: "dns_forward_cache_lookups",
    help: "Number of cache lookups for forwarded queries, by result (hit or miss).",
    labels: ["result"],
  });
  metrics.beforeScrape(() => {
    cache.with("hit").set(forward.cacheHits);
    cache.with("miss").set(forward.cacheMisses);
  });
  return ({ type }, code) => replies.with(typeNames.get(type) ?? "other", codeNames[code] ?? "other").add();
}
