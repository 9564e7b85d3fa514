// Options of the audit back-ends: a log file, a webhook, or both. The two back-ends share a family of flags.

import { type Dialect, groupName } from "#dialect";
import {
  atLeast,
  bool,
  duration,
  file,
  float,
  int,
  notNegative,
  oneOf,
  option,
  section,
  text,
} from "#options";

interface Family {
  readonly batchMaxSize: number;
  readonly batchMaxWait: number;
  readonly throttleBurst: number;
  readonly throttleEnable: boolean;
  readonly throttleQps: number;
  readonly mode: "batch" | "blocking";
}
const ofLog: Family = {
  batchMaxSize: 1,
  batchMaxWait: 0,
  throttleBurst: 0,
  throttleEnable: false,
  throttleQps: 0,
  mode: "blocking",
};
const ofWebhook: Family = {
  batchMaxSize: 400,
  batchMaxWait: 30_000,
  throttleBurst: 15,
  throttleEnable: true,
  throttleQps: 10,
  mode: "batch",
};

function family<const P extends "audit-log" | "audit-webhook">(
  prefix: P,
  to: string,
  base: Family,
  dialect: Dialect,
) {
  const version = `${groupName(dialect, { group: "audit", branded: true })}/v1`;
  return [
    option({
      flag: `${prefix}-batch-buffer-size`,
      type: int,
      default: 10000,
      doc: `Number of events buffered before they are batched and written ${to}. Only used in batch mode.`,
    }),
    option({
      flag: `${prefix}-batch-max-size`,
      type: int,
      default: base.batchMaxSize,
      doc: `Maximum number of events per batch ${to}. Only used in batch mode.`,
    }),
    option({
      flag: `${prefix}-batch-max-wait`,
      type: duration,
      default: base.batchMaxWait,
      check: notNegative,
      doc: `Maximum time to wait before an incomplete batch is written ${to}. Only used in batch mode.`,
    }),
    option({
      flag: `${prefix}-batch-throttle-burst`,
      type: int,
      default: base.throttleBurst,
      doc: `Maximum number of batches written ${to} at once if the throttle rate was not used before. Only used in batch mode.`,
    }),
    option({
      flag: `${prefix}-batch-throttle-enable`,
      type: bool,
      default: base.throttleEnable,
      doc: `Throttle batches ${to}. Only used in batch mode.`,
    }),
    option({
      flag: `${prefix}-batch-throttle-qps`,
      type: float,
      default: base.throttleQps,
      doc: `Maximum average number of batches per second ${to}. Only used in batch mode.`,
    }),
    option({
      flag: `${prefix}-mode`,
      type: oneOf("batch", "blocking", "blocking-strict"),
      default: base.mode,
      doc: `How events are written ${to}: batch buffers and writes them asynchronously, blocking delays the response until the event is written, blocking-strict also fails the request if writing fails.`,
    }),
    option({
      flag: `${prefix}-truncate-enabled`,
      type: bool,
      default: false,
      doc: `Truncate events and split batches ${to} that are too large.`,
    }),
    option({
      flag: `${prefix}-truncate-max-batch-size`,
      type: int,
      default: 10485760,
      check: atLeast(1),
      doc: `Maximum size in bytes of a batch ${to}; a larger one is split. The actual size may be slightly larger.`,
    }),
    option({
      flag: `${prefix}-truncate-max-event-size`,
      type: int,
      default: 102400,
      check: atLeast(1),
      doc: `Maximum size in bytes of an event ${to}. Request and response are removed from a larger one; if that is not enough, it is discarded.`,
    }),
    option({
      flag: `${prefix}-version`,
      type: oneOf(version),
      default: version,
      doc: `API version of events written ${to}.`,
    }),
  ] as const;
}

export const auditSection = (dialect: Dialect) =>
  section("Audit", [
    option({
      flag: "audit-policy-file",
      type: file,
      default: "",
      doc: "File with the audit policy.",
    }),
    option({
      flag: "audit-log-path",
      type: text,
      default: "",
      doc: "File to which audit events are written; - means standard output.",
    }),
    option({
      flag: "audit-log-format",
      type: oneOf("legacy", "json"),
      default: "json",
      doc: "Format of the audit log: legacy (one line of text per event) or json.",
    }),
    option({
      flag: "audit-log-compress",
      type: bool,
      default: false,
      doc: "Compress rotated files with gzip.",
    }),
    option({
      flag: "audit-log-maxage",
      type: int,
      default: 0,
      check: atLeast(0),
      doc: "Maximum age in days of rotated files, by the timestamp in their name; 0 means unlimited.",
    }),
    option({
      flag: "audit-log-maxbackup",
      type: int,
      default: 0,
      check: atLeast(0),
      doc: "Maximum number of rotated files to keep; 0 means unlimited.",
    }),
    option({
      flag: "audit-log-maxsize",
      type: int,
      default: 0,
      check: atLeast(0),
      doc: "Maximum size in megabytes of a log file before it is rotated; 0 means 100.",
    }),
    ...family("audit-log", "to the log", ofLog, dialect),
    option({
      flag: "audit-webhook-config-file",
      type: file,
      default: "",
      readable: true,
      doc: "Client configuration of the audit webhook.",
    }),
    option({
      flag: "audit-webhook-initial-backoff",
      type: duration,
      default: 10_000,
      check: notNegative,
      doc: "Time to wait before the first failed request is retried.",
    }),
    ...family("audit-webhook", "to the webhook", ofWebhook, dialect),
  ]);
