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
      doc: `Events held before they are batched ${to}. Batch mode only.`,
    }),
    option({
      flag: `${prefix}-batch-max-size`,
      type: int,
      default: base.batchMaxSize,
      doc: `Most events in one batch ${to}. Batch mode only.`,
    }),
    option({
      flag: `${prefix}-batch-max-wait`,
      type: duration,
      default: base.batchMaxWait,
      check: notNegative,
      doc: `Longest wait before a batch that is not full goes ${to}. Batch mode only.`,
    }),
    option({
      flag: `${prefix}-batch-throttle-burst`,
      type: int,
      default: base.throttleBurst,
      doc: `Most batches at once ${to} when they had not been throttled before. Batch mode only.`,
    }),
    option({
      flag: `${prefix}-batch-throttle-enable`,
      type: bool,
      default: base.throttleEnable,
      doc: `Throttle batches ${to}. Batch mode only.`,
    }),
    option({
      flag: `${prefix}-batch-throttle-qps`,
      type: float,
      default: base.throttleQps,
      doc: `Most batches per second ${to}. Batch mode only.`,
    }),
    option({
      flag: `${prefix}-mode`,
      type: oneOf("batch", "blocking", "blocking-strict"),
      default: base.mode,
      doc: `How events go ${to}: batch buffers them and writes on the side, blocking holds the response until the event is sent, blocking-strict also fails the request when that fails.`,
    }),
    option({
      flag: `${prefix}-truncate-enabled`,
      type: bool,
      default: false,
      doc: `Cut events and batches that are too large ${to}.`,
    }),
    option({
      flag: `${prefix}-truncate-max-batch-size`,
      type: int,
      default: 10485760,
      check: atLeast(1),
      doc: `Most bytes of a batch ${to}; a larger one is split. The events on the wire may be a little larger.`,
    }),
    option({
      flag: `${prefix}-truncate-max-event-size`,
      type: int,
      default: 102400,
      check: atLeast(1),
      doc: `Most bytes of an event ${to}. A larger one loses its request and response first and is dropped if that does not suffice.`,
    }),
    option({
      flag: `${prefix}-version`,
      type: oneOf(version),
      default: version,
      doc: `API version of the events ${to}.`,
    }),
  ] as const;
}

export const auditSection = (dialect: Dialect) =>
  section("Audit", [
    option({
      flag: "audit-policy-file",
      type: file,
      default: "",
      doc: "Policy that says what is recorded of which request.",
    }),
    option({
      flag: "audit-log-path",
      type: text,
      default: "",
      doc: "File that all audited requests are written to; - is standard output.",
    }),
    option({
      flag: "audit-log-format",
      type: oneOf("legacy", "json"),
      default: "json",
      doc: "Format of the log: legacy, a line of text per event, or json.",
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
      doc: "Days to keep old files, by the time in their name; 0 keeps them.",
    }),
    option({
      flag: "audit-log-maxbackup",
      type: int,
      default: 0,
      check: atLeast(0),
      doc: "Old files to keep; 0 is no limit.",
    }),
    option({
      flag: "audit-log-maxsize",
      type: int,
      default: 0,
      check: atLeast(0),
      doc: "Megabytes of a file before it is rotated; 0 takes 100.",
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
      doc: "Wait before the first failed request is tried again.",
    }),
    ...family("audit-webhook", "to the webhook", ofWebhook, dialect),
  ]);
