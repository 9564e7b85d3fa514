// Metrics of volumes, claims and operations on them, under their upstream names.
import type { PersistentVolume } from "#api";
import type { Clock, Family, Gauge, Metrics } from "#base";
import type { SeenClaim, SeenVolume } from "#controllerkit";
import type { Dialect } from "#dialect";

const stability = "ALPHA";
const noPlugin = "N/A";

/** Returns the name of the plugin that handles a volume; with CSI, it includes the driver. */
export function pluginOf({ spec }: Pick<PersistentVolume, "spec">, { names }: Dialect): string {
  const { pluginPrefix } = names.volumes;
  if (spec.csi) return `${pluginPrefix}csi:${spec.csi.driver}`;
  if (spec.hostPath) return `${pluginPrefix}host-path`;
  if (spec.nfs) return `${pluginPrefix}nfs`;
  return spec.local ? `${pluginPrefix}local-volume` : noPlugin;
}

/** Counts of series by label values, computed at each scrape; series that are no longer counted disappear. */
export class Counts {
  readonly #family: Family<Gauge>;

  constructor(metrics: Metrics, name: string, help: string, labels: readonly string[]) {
    this.#family = metrics.gauge({ name, help, labels, stability });
  }

  clear(): void {
    this.#family.clear();
  }

  count(...values: readonly string[]): void {
    this.#family.with(...values).add();
  }
}

export interface CountedVolumes {
  readonly volumes: { items(): Iterable<SeenVolume> };
  readonly claims: { items(): Iterable<SeenClaim> };
  readonly dialect: Dialect;
}

export function countVolumes(metrics: Metrics, { volumes, claims, dialect }: CountedVolumes): void {
  const counts = (name: string, help: string, ...labels: readonly string[]): Counts =>
    new Counts(metrics, `pv_collector_${name}`, help, labels);
  const total = counts(
    "total_pv_count",
    "Number of volumes, by plugin and volume mode.",
    "plugin_name",
    "volume_mode",
  );
  const bound = counts("bound_pv_count", "Number of bound volumes, by storage class.", "storage_class");
  const unbound = counts("unbound_pv_count", "Number of unbound volumes, by storage class.", "storage_class");
  const boundClaims = counts("bound_pvc_count", "Number of bound claims, by namespace.", "namespace");
  const unboundClaims = counts("unbound_pvc_count", "Number of unbound claims, by namespace.", "namespace");
  metrics.beforeScrape(() => {
    for (const each of [total, bound, unbound, boundClaims, unboundClaims]) each.clear();
    for (const volume of volumes.items()) {
      total.count(pluginOf(volume, dialect), volume.spec.volumeMode ?? "Filesystem");
      const byState = volume.status.phase === "Bound" ? bound : unbound;
      byState.count(volume.spec.storageClassName ?? "");
    }
    for (const { metadata, status } of claims.items())
      (status.phase === "Bound" ? boundClaims : unboundClaims).count(metadata.namespace ?? "");
  });
}

export interface VolumeOperations {
  /** An operation on an object starts, unless it is under way. */
  begin(key: string, plugin: string, operation: "provision" | "delete"): void;
  failed(key: string): void;
  succeeded(key: string): void;
  /** The object is gone. */
  forget(key: string): void;
}

/** Measures operations, which may take several attempts. */
export function volumeOperations(metrics: Metrics, clock: Clock): VolumeOperations {
  const labels = ["plugin_name", "operation_name"];
  const errors = metrics.counter({
    name: "volume_operation_total_errors",
    help: "Number of failed attempts of volume operations, by plugin and operation.",
    labels,
    stability,
  });
  const durations = metrics.histogram({
    name: "volume_operation_total_seconds",
    help: "Time in seconds from the start of a volume operation to its success, by plugin and operation.",
    labels,
    buckets: [0.1, 0.25, 0.5, 1, 2.5, 5, 10, 15, 25, 50, 120, 300, 600],
    stability,
  });
  const running = new Map<string, { readonly labels: readonly string[]; readonly since: number }>();
  return {
    begin: (key, plugin, operation) => {
      if (!running.has(key))
        running.set(key, { labels: [plugin || noPlugin, operation], since: clock.now() });
    },
    failed: (key) => {
      const operation = running.get(key);
      if (operation) errors.with(...operation.labels).add();
    },
    succeeded: (key) => {
      const operation = running.get(key);
      if (!operation) return;
      running.delete(key);
      durations.with(...operation.labels).observe((clock.now() - operation.since) / 1000);
    },
    forget: (key) => void running.delete(key),
  };
}
