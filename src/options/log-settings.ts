// Creates the log configured by a program's settings.

import {
  type RootLog,
  type VerboseModule,
  createLog,
  dropNotice,
  logSink,
  parseQuantity,
  quantityValue,
} from "#base";

export interface LogSettings {
  readonly v: number;
  readonly vmodule?: readonly VerboseModule[];
  /** In milliseconds. */
  readonly logFlushFrequency?: number;
  readonly loggingFormat?: "text" | "json";
  readonly logJsonSplitStream?: boolean;
  readonly logJsonInfoBufferSize?: string;
}

/**
 * Text and JSON are written to standard error; a split JSON log writes informational lines to standard
 * output, buffered if configured.
 */
export function logFrom(settings: LogSettings): RootLog {
  const { loggingFormat = "text", logFlushFrequency = 5000 } = settings;
  const bufferBytes = quantityValue(parseQuantity(settings.logJsonInfoBufferSize ?? "0"));
  const split = loggingFormat === "json" && settings.logJsonSplitStream === true;
  return createLog({
    verbosity: settings.v,
    modules: settings.vmodule ?? [],
    aliases: originalFiles,
    format: loggingFormat,
    ...(split && {
      infoSink: logSink({
        descriptor: 1,
        bufferBytes,
        flushMilliseconds: logFlushFrequency,
        notice: dropNotice(loggingFormat),
      }),
    }),
  });
}

/** The source files with the same messages in upstream, whose names users know from its logs. */
const originalFiles: Readonly<Record<string, readonly string[]>> = {
  "request-log": ["httplog"],
  "outgoing-log": ["round_trippers", "request"],
  report: ["flags"],
  authorize: ["authorization"],
  authenticate: ["authentication"],
};
