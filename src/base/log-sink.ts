// The output of a log: a bounded buffer in front of a file descriptor. It never throws and never blocks.

import { writeSync } from "node:fs";
import { dropNotice } from "./log-format.ts";

export interface LogSink {
  write(line: string): void;
  /** Writes all buffered lines, as far as the operating system accepts them. */
  flush(): void;
}

export interface LogSinkOptions {
  readonly descriptor: number;
  /** Lines are buffered until they reach this many bytes; 0 writes them once per turn of the event loop. */
  readonly bufferBytes?: number;
  /** Maximum time a line stays in the buffer. */
  readonly flushMilliseconds?: number;
  /** When the buffer exceeds this many bytes, the oldest lines are dropped and counted. */
  readonly limitBytes?: number;
  /** Formats the line that reports the number of dropped lines, in the format of the log. */
  readonly notice?: (count: number) => string;
  readonly output?: (descriptor: number, bytes: Uint8Array) => number;
}

export function logSink({
  descriptor,
  bufferBytes = 0,
  flushMilliseconds = 5000,
  limitBytes = 4 << 20,
  notice = dropNotice("text"),
  output = writeSync,
}: LogSinkOptions): LogSink {
  let waiting: string[] = [];
  let rest: Uint8Array | undefined;
  let size = 0;
  let dropped = 0;
  let scheduled = false;

  const flush = (): void => {
    scheduled = false;
    if (dropped > 0) {
      waiting.unshift(notice(dropped));
      dropped = 0;
    }
    const text = waiting.join("");
    waiting = [];
    size = 0;
    let bytes: Uint8Array = rest ? Buffer.concat([rest, Buffer.from(text)]) : Buffer.from(text);
    rest = undefined;
    try {
      while (bytes.length > 0) bytes = bytes.subarray(output(descriptor, bytes));
    } catch (error) {
      // If the pipe is full, the rest is written later; if it is closed, the output is discarded.
      if ((error as { code?: string }).code !== "EAGAIN") return;
      rest = bytes;
      size = bytes.length;
      schedule(50);
    }
  };

  const schedule = (milliseconds: number): void => {
    if (scheduled) return;
    scheduled = true;
    if (milliseconds > 0) setTimeout(flush, milliseconds).unref();
    else setImmediate(flush);
  };

  return {
    write: (line) => {
      waiting.push(line);
      size += line.length;
      while (size > limitBytes && waiting.length > 1) {
        size -= waiting.shift()!.length;
        dropped++;
      }
      if (bufferBytes === 0) schedule(0);
      else if (size >= bufferBytes) flush();
      else schedule(flushMilliseconds);
    },
    flush,
  };
}
