// Metrics of allocated service IPs and node ports, and of the outcome of allocations.
import type { Counter, Family, Metrics } from "#base";
import type { Service } from "#api";
import type { ServiceAllocator } from "#registry";
import { addressRange } from "../services/address-range.ts";
import { defaultRange } from "../services/service-allocator.ts";
import { claimsOf, portClaim } from "../services/service-claims.ts";

export interface AllocatorMetricsOptions {
  readonly metrics: Metrics;
  readonly ranges: readonly string[];
  readonly ports: { readonly from: number; readonly to: number };
}

/** Whether the value was requested by the client or chosen by the server. */
type Scope = "static" | "dynamic";

const isPort = (claim: string): boolean => claim.startsWith(portClaim(""));

/** Wraps the allocator and counts the outcome of its allocations. */
export function measuredAllocator<A extends ServiceAllocator>(
  allocator: A,
  { metrics, ranges, ports }: AllocatorMetricsOptions,
): A & { readonly showUse: (services: () => readonly Service[]) => void } {
  const ofAddress = counters(metrics, "kube_apiserver_clusterip_allocator_", ["cidr", "scope"]);
  const ofPort = counters(metrics, "kube_apiserver_nodeport_allocator_", ["scope"]);
  const blocks = (ranges.length > 0 ? ranges : [defaultRange]).map(addressRange);
  const count = (claim: string, scope: Scope, family: "total" | "errors"): void => {
    if (isPort(claim)) ofPort[family].with(scope).add();
    else
      for (const { text, contains } of blocks) if (contains(claim)) ofAddress[family].with(text, scope).add();
  };
  return {
    ...allocator,
    allocate: (service, old, state, dryRun) => {
      const previous = new Set(old ? claimsOf(old.spec) : []);
      const requested = new Set(claimsOf(service.spec));
      const errors = allocator.allocate(service, old, state, dryRun);
      if (dryRun) return errors;
      if (errors.length > 0) for (const claim of requested) count(claim, "static", "errors");
      else
        for (const claim of claimsOf(service.spec))
          if (!previous.has(claim)) count(claim, requested.has(claim) ? "static" : "dynamic", "total");
      return errors;
    },
    showUse: (services) => {
      const gauge = (name: string, help: string, labels: readonly string[] = []) =>
        metrics.gauge({ name, help, labels, stability: "ALPHA" });
      const usedAddresses = gauge(
        "kube_apiserver_clusterip_allocator_allocated_ips",
        "Number of cluster IPs allocated to services, by CIDR.",
        ["cidr"],
      );
      const freeAddresses = gauge(
        "kube_apiserver_clusterip_allocator_available_ips",
        "Number of cluster IPs available for allocation, by CIDR.",
        ["cidr"],
      );
      const usedPorts = gauge(
        "kube_apiserver_nodeport_allocator_allocated_ports",
        "Number of node ports allocated to services.",
      ).with();
      const freePorts = gauge(
        "kube_apiserver_nodeport_allocator_available_ports",
        "Number of node ports available for allocation.",
      ).with();
      metrics.beforeScrape(() => {
        const claims = new Set(services().flatMap(({ spec }) => claimsOf(spec)));
        const [taken, addresses] = [[...claims].filter(isPort), [...claims].filter((each) => !isPort(each))];
        usedPorts.set(taken.length);
        freePorts.set(ports.to - ports.from + 1 - taken.length);
        for (const { text, size, contains } of blocks) {
          const used = addresses.filter(contains).length;
          usedAddresses.with(text).set(used);
          freeAddresses.with(text).set(size - used);
        }
      });
    },
  };
}

function counters(
  metrics: Metrics,
  prefix: string,
  labels: readonly string[],
): Readonly<Record<"total" | "errors", Family<Counter>>> {
  const counter = (name: string, help: string): Family<Counter> =>
    metrics.counter({ name: `${prefix}${name}`, help, labels, stability: "ALPHA" });
  return {
    total: counter(
      "allocation_total",
      "Number of allocations for services, by scope (static if requested explicitly, else dynamic).",
    ),
    errors: counter(
      "allocation_errors_total",
      "Number of failed allocations for services, by scope (static or dynamic).",
    ),
  };
}
