// The log that a program's settings ask for.

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
  /** Milliseconds. */
  readonly logFlushFrequency?: number;
  readonly loggingFormat?: "text" | "json";
  readonly logJsonSplitStream?: boolean;
  readonly logJsonInfoBufferSize?: string;
}

/**
 * Text and JSON go to standard error; a split JSON log sends information, buffered if asked, to standard
 * output.
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

/** The files of the original that say the same: people know them from its logs. */
const originalFiles: Readonly<Record<string, readonly string[]>> = {
  "request-log": ["httplog"],
  "outgoing-log": ["round_trippers", "request"],
  report: ["flags"],
  authorize: ["authorization"],
  authenticate: ["authentication"],
};
