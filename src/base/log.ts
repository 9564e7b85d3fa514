// Logging: a constant sentence plus fields. Errors are always written; information up to the verbosity asked
// for.

import {
  type LogEntry,
  type LogFields,
  type LogFormat,
  type Severity,
  dropNotice,
  jsonLine,
  textLine,
} from "./log-format.ts";
import { type LogSink, logSink } from "./log-sink.ts";
import { sourceAt } from "./packed-source.ts";

export interface Log {
  info(message: string, fields?: LogFields): void;
  warn(message: string, fields?: LogFields): void;
  error(message: string, fields?: LogFields): void;
  /** Information for those who asked for `level` or more (`-v`, `--vmodule`). */
  verbose(level: number, message: string, fields?: LogFields): void;
  /** Whether verbose(level) would write, to spare the making of costly fields. */
  enabled(level: number): boolean;
  /** A log that adds these fields to every line. */
  with(fields: LogFields): Log;
  flush(): void;
}

/** `controller*=4`: a file name without its ending, `*` and `?` allowed. */
export interface VerboseModule {
  readonly pattern: string;
  readonly level: number;
}

export interface LogOptions {
  readonly verbosity?: number;
  readonly modules?: readonly VerboseModule[];
  /** Other names by which patterns may call a file. */
  readonly aliases?: Readonly<Record<string, readonly string[]>>;
  readonly format?: LogFormat;
  readonly sink?: LogSink;
  /** Where warnings and information go when not to `sink` (JSON with split streams). */
  readonly infoSink?: LogSink;
  readonly now?: () => number;
}

/** A log's verbosity may change while it runs (`/debug/flags/v`). */
export interface RootLog extends Log {
  setVerbosity(level: number): void;
}

export function createLog(options: LogOptions = {}): RootLog {
  const sink = options.sink ?? logSink({ descriptor: 2, notice: dropNotice(options.format ?? "text") });
  const infoSink = options.infoSink ?? sink;
  const now = options.now ?? (() => performance.timeOrigin + performance.now());
  const format = options.format === "json" ? jsonLine : (entry: LogEntry) => textLine(entry, process.pid);
  const modules = (options.modules ?? []).map(({ pattern, level }) => ({
    match: globPattern(pattern),
    level,
  }));
  let verbosity = options.verbosity ?? 0;

  const emit = (
    severity: Severity,
    level: number,
    message: string,
    fields: readonly LogFields[],
    caller: string,
  ): void => {
    const line = format({ severity, level, milliseconds: now(), caller, message, fields });
    if (severity === "E") {
      sink.write(line);
      sink.flush();
    } else infoSink.write(line);
  };
  /** The highest level that this file asks for. */
  const levelOf = (caller: string): number => {
    const file = caller.slice(0, caller.indexOf("."));
    const names = [file, ...(options.aliases?.[file] ?? [])];
    return modules.find(({ match }) => names.some((name) => match.test(name)))?.level ?? verbosity;
  };
  const passes = (level: number, entrance: () => void): boolean =>
    level <= verbosity || (modules.length > 0 && level <= levelOf(callerOf(entrance)));

  const make = (always: readonly LogFields[]): Log => {
    const all = (fields: LogFields | undefined): readonly LogFields[] =>
      fields ? [...always, fields] : always;
    const log: Log = {
      info: (message, fields) => emit("I", 0, message, all(fields), callerOf(log.info)),
      warn: (message, fields) => emit("W", 0, message, all(fields), callerOf(log.warn)),
      error: (message, fields) => emit("E", 0, message, all(fields), callerOf(log.error)),
      verbose: (level, message, fields) => {
        if (passes(level, log.verbose as () => void))
          emit("I", level, message, all(fields), callerOf(log.verbose));
      },
      enabled: (level) => passes(level, log.enabled as unknown as () => void),
      with: (fields) => make([...always, fields]),
      flush: () => {
        infoSink.flush();
        sink.flush();
      },
    };
    return log;
  };
  return Object.assign(make([]), {
    setVerbosity: (level: number) => {
      verbosity = level;
    },
  });
}

/** A log for tests and for embedding without output. */
export const silentLog: Log = {
  info: () => {},
  warn: () => {},
  error: () => {},
  verbose: () => {},
  enabled: () => false,
  with: () => silentLog,
  flush: () => {},
};

/** `server.ts:12` of whoever called `entrance`. */
function callerOf(entrance: (...parameters: never[]) => unknown): string {
  const limit = Error.stackTraceLimit;
  const prepare = Error.prepareStackTrace;
  const holder: { stack?: unknown } = {};
  try {
    Error.stackTraceLimit = 1;
    Error.prepareStackTrace = (_error, sites) => sites;
    Error.captureStackTrace(holder, entrance);
    const site = (holder.stack as readonly NodeJS.CallSite[])[0];
    const file = site?.getFileName() ?? "unknown.ts";
    return sourceAt(file, site?.getLineNumber() ?? 0);
  } catch {
    return "unknown.ts:0";
  } finally {
    Error.prepareStackTrace = prepare;
    Error.stackTraceLimit = limit;
  }
}

const globPattern = (glob: string): RegExp =>
  new RegExp(
    `^${glob
      .replace(/[.+^${}()|[\]\\]/g, "\\$&")
      .replaceAll("*", ".*")
      .replaceAll("?", ".")}$`,
  );
