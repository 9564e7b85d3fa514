// Metrics of the controllers of EndpointSlices, under their upstream names.
import { type Metrics, exponentialBuckets } from "#base";
import type { OnWrite } from "./slice-writer.ts";
import type { Desired, SeenSlice, SlicePlan } from "./slices.ts";

/** How many endpoints a plan adds to slices, changes in them and removes from them. */
export interface PlannedChanges {
  readonly added: number;
  readonly updated: number;
  readonly removed: number;
}

/** What is desired for a service. */
interface Efficiency {
  readonly endpoints: number;
  readonly slices: number;
  /** Number of slices if they were as full as possible. */
  readonly ideal: number;
}

export interface SliceMetrics {
  /** Records the plan of a sync. */
  planned(key: string, desired: readonly Desired[], plan: SlicePlan, existing: readonly SeenSlice[]): void;
  readonly written: OnWrite;
  /** The service or its endpoints are gone. */
  forget(key: string): void;
}

const stability = "ALPHA";
const perSync = exponentialBuckets(2, 2, 15);

/** The families that the controllers of services and of mirrored endpoints share. */
export function sliceMetrics(
  metrics: Metrics,
  { prefix, maxPerSlice, countsUpdates }: SliceMetricsOptions,
): SliceMetrics {
  const histogram = (name: string, help: string) =>
    metrics.histogram({ name: `${prefix}_${name}`, help, buckets: perSync, stability }).with();
  const gauge = (name: string, help: string) =>
    metrics.gauge({ name: `${prefix}_${name}`, help, stability }).with();
  const added = histogram("endpoints_added_per_sync", "Number of endpoints added per sync.");
  const updated = countsUpdates
    ? histogram("endpoints_updated_per_sync", "Number of endpoints changed per sync.")
    : undefined;
  const removed = histogram("endpoints_removed_per_sync", "Number of endpoints removed per sync.");
  const endpoints = gauge("endpoints_desired", "Number of desired endpoints.");
  const slices = gauge("num_endpoint_slices", "Number of EndpointSlices.");
  const ideal = gauge(
    "desired_endpoint_slices",
    "Number of EndpointSlices if endpoints were distributed perfectly.",
  );
  const changes = metrics.counter({
    name: `${prefix}_changes`,
    help: "Number of writes of EndpointSlices, by operation.",
    labels: ["operation"],
    stability,
  });
  const known = new Map<string, Efficiency>();
  const count = (key: string, next: Efficiency | undefined): void => {
    const before = known.get(key);
    endpoints.add((next?.endpoints ?? 0) - (before?.endpoints ?? 0));
    slices.add((next?.slices ?? 0) - (before?.slices ?? 0));
    ideal.add((next?.ideal ?? 0) - (before?.ideal ?? 0));
    if (next) known.set(key, next);
    else known.delete(key);
  };
  return {
    planned: (key, desired, plan, existing) => {
      const changed = changesOf(plan);
      added.observe(changed.added);
      updated?.observe(changed.updated);
      removed.observe(changed.removed);
      count(key, {
        endpoints: desired.reduce((sum, each) => sum + each.endpoints.length, 0),
        slices: existing.length + plan.create.length - plan.remove.length,
        ideal: Math.max(
          1,
          desired.reduce((sum, each) => sum + Math.ceil(each.endpoints.length / maxPerSlice), 0),
        ),
      });
    },
    written: (operation) => changes.with(operation).add(),
    forget: (key) => count(key, undefined),
  };
}

export interface SliceMetricsOptions {
  /** The name of the controller. */
  readonly prefix: "endpoint_slice_controller" | "endpoint_slice_mirroring_controller";
  readonly maxPerSlice: number;
  /** Also exposes how many endpoints of a slice were changed per sync. */
  readonly countsUpdates: boolean;
}

/** Counts the endpoints of a plan by address. */
export function changesOf({ create, update, remove }: SlicePlan): PlannedChanges {
  let [added, updated, removed] = [0, 0, 0];
  for (const { endpoints } of create) added += endpoints.length;
  for (const { endpoints } of remove) removed += (endpoints ?? []).length;
  for (const { slice, endpoints } of update) {
    const before = new Map((slice.endpoints ?? []).map((each) => [addressesOf(each), JSON.stringify(each)]));
    for (const each of endpoints) {
      const known = before.get(addressesOf(each));
      if (known === undefined) added++;
      else if (known !== JSON.stringify(each)) updated++;
      before.delete(addressesOf(each));
    }
    removed += before.size;
  }
  return { added, updated, removed };
}

const addressesOf = ({ addresses }: { readonly addresses?: readonly string[] | null }): string =>
  (addresses ?? []).join();
