// Structured logging: a constant message plus fields. Errors are always written; informational lines only up
// to the configured verbosity.

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
  /** Writes the line if the verbosity is `level` or higher (`-v`, `--vmodule`). */
  verbose(level: number, message: string, fields?: LogFields): void;
  /** Reports whether verbose(level) would write, so that costly fields are only computed when needed. */
  enabled(level: number): boolean;
  /** Returns a log that adds these fields to every line. */
  with(fields: LogFields): Log;
  flush(): void;
}

/** `controller*=4`: a file name without its extension; `*` and `?` are wildcards. */
export interface VerboseModule {
  readonly pattern: string;
  readonly level: number;
}

export interface LogOptions {
  readonly verbosity?: number;
  readonly modules?: readonly VerboseModule[];
  /** Alternative names by which patterns may refer to a file. */
  readonly aliases?: Readonly<Record<string, readonly string[]>>;
  readonly format?: LogFormat;
  readonly sink?: LogSink;
  /** Receives warnings and informational lines instead of `sink` (JSON with split streams). */
  readonly infoSink?: LogSink;
  readonly now?: () => number;
}

/** A log whose verbosity can be changed at run time (`/debug/flags/v`). */
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
  /** The verbosity in effect for the file of the caller. */
  const levelOf = (caller: string): number => {
    const file = caller.slice(0, caller.indexOf("."));
    const names = [file, ...(options.aliases?.[file] ?? [])];
    return modules.find(({ match }) => names.some((name) => match.test(name)))?.level ?? verbosity;
  };
  const passes = (level: number, entryPoint: () => void): boolean =>
    level <= verbosity || (modules.length > 0 && level <= levelOf(callerOf(entryPoint)));

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

/** A log that discards everything, for tests and embedding. */
export const silentLog: Log = {
  info: () => {},
  warn: () => {},
  error: () => {},
  verbose: () => {},
  enabled: () => false,
  with: () => silentLog,
  flush: () => {},
};

/** Returns the location, such as `server.ts:12`, of the code that called `entrance`. */
function callerOf(entryPoint: (...parameters: never[]) => unknown): string {
  const limit = Error.stackTraceLimit;
  const prepare = Error.prepareStackTrace;
  const holder: { stack?: unknown } = {};
  try {
    Error.stackTraceLimit = 1;
    Error.prepareStackTrace = (_error, sites) => sites;
    Error.captureStackTrace(holder, entryPoint);
    const site = (holder.stack as readonly NodeJS.CallSite[])[0];
    const file = site?.getFileName() ?? "unknown.ts";
    return sourceAt(file, site?.getLineNumber() ?? 0, site?.getColumnNumber() ?? 0);
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
