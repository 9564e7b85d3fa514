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
      help: "Memory used by the recorded object changes in bytes.",
      stability,
    })
    .with();
  const recorded = metrics
    .counter({
      name: "apiserver_timeline_changes_recorded_total",
      help: "Number of object changes recorded in the timeline journal.",
      stability,
    })
    .with();
  const dropped = metrics
    .counter({
      name: "apiserver_timeline_changes_dropped_total",
      help: "Number of object changes not recorded or discarded before the end of their retention.",
      stability,
    })
    .with();
  metrics.beforeScrape(() => {
    bytes.set(journal.bytes);
    recorded.value = journal.sequence;
    dropped.value = journal.dropped;
  });
}
