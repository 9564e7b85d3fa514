// Metrics of the ranges allocated to nodes, under their upstream names.
import { type Metrics, exponentialBuckets } from "#base";
import { CidrPool } from "./cidr-pool.ts";

const prefix = "node_ipam_controller";

/** Returns a function that makes measured pools. */
export function measuredPools(metrics: Metrics): (clusterCidr: string, maskSize: number) => CidrPool {
  const byCidr = { labels: ["clusterCIDR"], stability: "ALPHA" } as const;
  const allocations = metrics.counter({
    ...byCidr,
    name: `${prefix}_cidrset_cidrs_allocations_total`,
    help: "Number of ranges allocated, by cluster range.",
  });
  const releases = metrics.counter({
    ...byCidr,
    name: `${prefix}_cidrset_cidrs_releases_total`,
    help: "Number of ranges released, by cluster range.",
  });
  const tries = metrics.histogram({
    ...byCidr,
    name: `${prefix}_cidrset_allocation_tries_per_request`,
    help: "Number of used ranges passed over by an allocation, by cluster range.",
    buckets: exponentialBuckets(1, 5, 5),
  });
  const usage = metrics.gauge({
    ...byCidr,
    name: `${prefix}_cidrset_usage_cidrs`,
    help: "Share of the ranges that is allocated, by cluster range.",
  });
  const most = metrics.gauge({
    ...byCidr,
    // Misspelled upstream, too.
    name: `${prefix}_cirdset_max_cidrs`,
    help: "Number of ranges that can be allocated, by cluster range.",
  });
  return (clusterCidr, maskSize) => {
    const pool: CidrPool = new CidrPool(clusterCidr, maskSize, {
      allocated: (count, passed) => {
        allocations.with(clusterCidr).add(count);
        if (passed !== undefined) tries.with(clusterCidr).observe(passed);
      },
      released: (count) => releases.with(clusterCidr).add(count),
      usage: (used) => usage.with(clusterCidr).set(used / pool.size),
    });
    most.with(clusterCidr).set(pool.size);
    return pool;
  };
}
