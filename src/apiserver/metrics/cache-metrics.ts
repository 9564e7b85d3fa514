// Statistics of the watch caches, exported per resource at each scrape.
import type { Counter, Family, Gauge, Metrics } from "#base";
import type { Resource } from "#registry";
import { ResourceCache } from "#watchcache";

/** `resources` is called at every scrape, since custom resources come and go. */
export function cacheMetrics(metrics: Metrics, resources: () => readonly Resource[]): void {
  const counter = (name: string, help: string, labels: readonly string[] = ["resource"]): Family<Counter> =>
    metrics.counter({ name, help, labels, stability: "ALPHA" });
  const gauge = (name: string, help: string): Family<Gauge> =>
    metrics.gauge({ name, help, labels: ["resource"], stability: "ALPHA" });
  const received = counter("apiserver_watch_cache_events_received_total", "Changes that caches received.");
  const fromStore = counter("apiserver_storage_events_received_total", "Changes that came from the store.");
  const undecoded = counter(
    "apiserver_storage_decode_errors_total",
    "Stored objects and changes that could not be read.",
  );
  const dispatched = counter(
    "apiserver_watch_cache_events_dispatched_total",
    "Changes that caches handed on.",
  );
  const initializations = counter(
    "apiserver_watch_cache_initializations_total",
    "How often caches were filled.",
  );
  const initial = counter("apiserver_init_events_total", "Objects sent to watches as their initial state.");
  const capacity = gauge("watch_cache_capacity", "Changes that a cache remembers at most.");
  const increases = counter(
    "watch_cache_capacity_increase_total",
    "How often a cache began to remember more.",
  );
  const decreases = counter(
    "watch_cache_capacity_decrease_total",
    "How often a cache began to remember less.",
  );
  const bytes = gauge("apiserver_watch_cache_object_bytes", "Bytes of the objects in a cache.");
  const watchers = gauge("apiserver_watch_cache_watchers", "Watches that a cache serves.");
  const lists = counter("apiserver_cache_list_total", "Lists served from caches.", [
    "resource_prefix",
    "index",
  ]);
  const fetched = counter(
    "apiserver_cache_list_fetched_objects_total",
    "Objects looked at for lists from caches.",
    ["resource_prefix", "index"],
  );
  const returned = counter(
    "apiserver_cache_list_returned_objects_total",
    "Objects returned by lists from caches.",
    ["resource_prefix"],
  );
  const storeLists = counter("apiserver_storage_list_total", "Lists read from the store.");
  const storeFetched = counter(
    "apiserver_storage_list_fetched_objects_total",
    "Objects read for lists from the store.",
  );
  const storeEvaluated = counter(
    "apiserver_storage_list_evaluated_objects_total",
    "Objects tested for lists from the store.",
  );
  const storeReturned = counter(
    "apiserver_storage_list_returned_objects_total",
    "Objects returned by lists from the store.",
  );
  metrics.beforeScrape(() => {
    for (const resource of resources()) {
      const { source, strategy, groupResource: name } = resource;
      if (!(source instanceof ResourceCache)) continue;
      const { stats } = source;
      received.with(name).value = stats.events;
      fromStore.with(name).value = stats.events;
      dispatched.with(name).value = stats.events;
      if (stats.unreadable > 0) undecoded.with(name).value = stats.unreadable;
      initializations.with(name).value = stats.initializations;
      capacity.with(name).set(source.historyCapacity);
      if (stats.capacityIncreases > 0) increases.with(name).value = stats.capacityIncreases;
      if (stats.capacityDecreases > 0) decreases.with(name).value = stats.capacityDecreases;
      bytes.with(name).set(stats.bytes);
      watchers.with(name).set(source.watchers());
      if (stats.initialEvents > 0) initial.with(name).value = stats.initialEvents;
      storeLists.with(name).value = stats.storeLists;
      for (const each of [storeFetched, storeEvaluated, storeReturned])
        each.with(name).value = stats.storeFetched;
      if (stats.lists === 0) continue;
      const prefix = `/${strategy.storagePath ?? strategy.resource}`;
      lists.with(prefix, "").value = stats.lists - stats.indexLists;
      if (stats.indexLists > 0) lists.with(prefix, "by selector").value = stats.indexLists;
      fetched.with(prefix, "").value = stats.fetched;
      returned.with(prefix).value = stats.returned;
    }
  });
}
