// Export target for OpenTelemetry log records, sent to a collector over gRPC.
import type { Event } from "#api";
import type { Clock } from "#base";
import { grpcChannel } from "#http";
import { type LogRecord, collectorEndpoint, encodeLogs, exportLogs } from "#tracing";
import type { ExportTarget, ExportedLine } from "./export.ts";

const maxBatchSize = 512;
const deadlineMilliseconds = 30_000;
const severities = { Warning: 13, Normal: 9 } as const;

/**
 * Returns a target for a collector. A rejected batch fails the flush: the cursor does not advance, and the
 * batch is sent again.
 */
export function otlpTarget(endpoint: string, clock: Clock): ExportTarget {
  const channel = grpcChannel({ endpoints: [collectorEndpoint(endpoint)], clock });
  let pending: LogRecord[] = [];
  return {
    write: (line) => {
      const record = recordOf(line, clock.now());
      if (record) pending.push(record);
    },
    flush: async () => {
      while (pending.length > 0) {
        const batch = pending.slice(0, maxBatchSize);
        const bytes = encodeLogs({ "service.name": "orch-events" }, "events", batch);
        await channel.unary(exportLogs, bytes, { deadlineMilliseconds, waitForReady: true });
        pending = pending.slice(batch.length);
      }
      return 0;
    },
    rewind: async () => void (pending = []),
    close: async () => channel.close(),
  };
}

export function recordOf(line: ExportedLine, observedMillis: number): LogRecord | undefined {
  if (line.type === "GAP")
    return {
      timeMillis: observedMillis,
      observedMillis,
      severity: severities.Warning,
      severityText: "Warning",
      body: `events between revisions ${line.from} and ${line.to} may be missing`,
      attributes: {},
    };
  const { object: event, type } = line;
  const { regarding, metadata, deprecatedSource: source } = event;
  const isWarning = event.type === "Warning";
  const attributes: Record<string, string | number> = { "event.change": type };
  const add = (key: string, value: string | number | null | undefined): void => {
    if (value) attributes[key] = value;
  };
  add("event.name", metadata.name);
  add("event.namespace", metadata.namespace);
  add("event.uid", metadata.uid);
  add("event.reason", event.reason);
  add("event.action", event.action);
  add("event.count", event.series?.count || event.deprecatedCount);
  add("event.controller", source.component || event.reportingController);
  add("event.instance", event.reportingInstance);
  add("event.node", source.host);
  add("object.kind", regarding.kind);
  add("object.apiVersion", regarding.apiVersion);
  add("object.namespace", regarding.namespace);
  add("object.name", regarding.name);
  add("object.uid", regarding.uid);
  return {
    timeMillis: timeOf(event) ?? observedMillis,
    observedMillis,
    severity: isWarning ? severities.Warning : severities.Normal,
    severityText: event.type || "Normal",
    body: event.note ?? "",
    attributes,
  };
}

/** Returns the time of the event's last occurrence. */
function timeOf(event: Event): number | undefined {
  const text = event.series?.lastObservedTime || event.deprecatedLastTimestamp || event.eventTime;
  const millis = Date.parse(text || event.metadata.creationTimestamp || "");
  return Number.isNaN(millis) ? undefined : millis;
}
