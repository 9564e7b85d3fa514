// Metrics of the event timeline, exported at each scrape.
import type { Metrics } from "#base";
import type { ObjectJournal } from "#timeline";

export function timelineMetrics(
  metrics: Metrics,
  journal: Pick<ObjectJournal, "bytes" | "dropped" | "sequence">,
): void {
  const stability = "ALPHA";
  const bytes = metrics
    .gauge({
      name: "apiserver_timeline_journal_bytes",
      help: "Memory that recorded changes of objects take.",
      stability,
    })
    .with();
  const recorded = metrics
    .counter({
      name: "apiserver_timeline_changes_recorded_total",
      help: "Changes of objects that were recorded.",
      stability,
    })
    .with();
  const dropped = metrics
    .counter({
      name: "apiserver_timeline_changes_dropped_total",
      help: "Changes of objects that were not recorded, or forgotten before their time.",
      stability,
    })
    .with();
  metrics.beforeScrape(() => {
    bytes.set(journal.bytes);
    recorded.value = journal.sequence;
    dropped.value = journal.dropped;
  });
}
