// Formats one log line as text (`I0102 15:04:05.000000 7 server.ts:12] "message" key="value"`) or as JSON.

import { Redacted } from "./redacted.ts";

export type Severity = "I" | "W" | "E";
export type LogFields = Readonly<Record<string, unknown>>;

export interface LogEntry {
  readonly severity: Severity;
  readonly level: number;
  readonly milliseconds: number;
  readonly caller: string;
  readonly message: string;
  readonly fields: readonly LogFields[];
}
export type LogFormat = "text" | "json";

/** Maximum length of one field value in a log line. */
const valueLimit = 4096;

export function textLine(entry: LogEntry, pid: number): string {
  let line = `${entry.severity}${stamp(entry.milliseconds)} ${String(pid).padStart(7)} ${entry.caller}] ${JSON.stringify(entry.message)}`;
  for (const fields of entry.fields) {
    for (const key in fields) {
      if (fields[key] !== undefined) line += ` ${key}=${textValue(fields[key])}`;
    }
  }
  return `${line}\n`;
}

export function jsonLine(entry: LogEntry): string {
  const head: Record<string, unknown> = { ts: entry.milliseconds, caller: entry.caller, msg: entry.message };
  if (entry.severity === "I") head["v"] = entry.level;
  else head["level"] = entry.severity === "E" ? "error" : "warning";
  for (const fields of entry.fields) {
    for (const key in fields) head[key] = jsonValue(fields[key]);
  }
  return `${safeJson(head)}\n`;
}

/** Returns the line written in place of dropped lines. */
export const dropNotice =
  (format: LogFormat) =>
  (count: number): string => {
    const message = "lines of this log were dropped, for its reader is too slow";
    const entry: LogEntry = {
      severity: "W",
      level: 0,
      milliseconds: Date.now(),
      caller: "log-sink.ts:0",
      message,
      fields: [{ count }],
    };
    return format === "json" ? jsonLine(entry) : textLine(entry, process.pid);
  };

const two = (n: number): string => (n < 10 ? `0${n}` : String(n));
let stampSecond = -1;
let stampText = "";

/** `0102 15:04:05.000000` in local time; the part up to the second is cached for each second. */
function stamp(milliseconds: number): string {
  const second = Math.floor(milliseconds / 1000);
  if (second !== stampSecond) {
    const at = new Date(milliseconds);
    stampText = `${two(at.getMonth() + 1)}${two(at.getDate())} ${two(at.getHours())}:${two(at.getMinutes())}:${two(at.getSeconds())}`;
    stampSecond = second;
  }
  return `${stampText}.${String(Math.floor((milliseconds - second * 1000) * 1000)).padStart(6, "0")}`;
}

function textValue(value: unknown): string {
  if (typeof value === "string") return quoted(value);
  if (typeof value === "number" || typeof value === "boolean" || typeof value === "bigint" || value === null)
    return String(value);
  const plain = jsonValue(value);
  return typeof plain === "string" ? quoted(plain) : clip(safeJson(plain));
}

/** Converts a value for logging: errors to their message, API objects to namespace and name. */
function jsonValue(value: unknown): unknown {
  if (value instanceof Redacted) return value.toString();
  if (value instanceof Error)
    return clip(
      value.stack && value.name !== "ApiError" && value.message === "" ? value.stack : describeError(value),
    );
  if (value instanceof Uint8Array) return `${value.length} bytes`;
  if (typeof value === "bigint") return value.toString();
  if (typeof value === "function" || typeof value === "symbol") return String(value);
  if (typeof value === "object" && value !== null && "metadata" in value) {
    const { name, namespace } = (value.metadata ?? {}) as { name?: unknown; namespace?: unknown };
    if (typeof name === "string")
      return typeof namespace === "string" && namespace ? `${namespace}/${name}` : name;
  }
  return value;
}

function describeError(error: Error): string {
  const cause = error.cause instanceof Error ? `: ${error.cause.message}` : "";
  return `${error.message}${cause}`;
}

const clip = (text: string): string =>
  text.length > valueLimit ? `${text.slice(0, valueLimit)}… (${text.length} characters)` : text;
const quoted = (text: string): string => JSON.stringify(clip(text));

function safeJson(value: unknown): string {
  try {
    return (
      JSON.stringify(value, (_key, item: unknown) => (typeof item === "bigint" ? item.toString() : item)) ??
      "null"
    );
  } catch (error) {
    return JSON.stringify(`unprintable: ${error instanceof Error ? error.message : "?"}`);
  }
}
