// A log that is a pipe or a device, such as /dev/stdout. Text for which it has no room is kept, up to a limit, and
// written as its reader makes room: the event loop never waits for the reader.
import { closeSync, constants, openSync, statSync, writeSync } from "node:fs";
import { resolve } from "node:path";
import type { Clock } from "#base";
import type { RotatingFile } from "./rotating-file.ts";

export interface PipeFileOptions {
  readonly path: string;
  readonly clock: Clock;
  /** Called if text that was kept cannot be written. */
  readonly onError: (error: Error) => void;
}

/** Opening a pipe must not wait for its reader, nor writing for room. */
const flags = constants.O_WRONLY | constants.O_APPEND | constants.O_NONBLOCK;
export const maxKeptBytes = 16 << 20;
const retryMilliseconds = 5;

/** Reports whether a path leads to a pipe, a device or an open file of the process, none of which is rotated. */
export const isPipe = (path: string): boolean =>
  /^\/(?:dev|proc)\//.test(resolve(path)) || statSync(path, { throwIfNoEntry: false })?.isFile() === false;

/** Throws if the pipe has no reader. A reader that exits may be followed by another one. */
export function pipeFile({ path, clock, onError }: PipeFileOptions): RotatingFile {
  const descriptor = openSync(path, flags);
  let kept: Buffer[] = [];
  let keptBytes = 0;
  let cancelRetry: (() => void) | undefined;

  const drop = (): void => {
    kept = [];
    keptBytes = 0;
  };
  /** Writes as much as possible. Returns the error if the rest can be written later; throws others. */
  const drain = (): Error | undefined => {
    let done = 0;
    try {
      for (; done < kept.length; done++)
        for (let rest = kept[done]!; rest.length > 0; kept[done] = rest) {
          const written = writeSync(descriptor, rest);
          rest = rest.subarray(written);
          keptBytes -= written;
        }
      drop();
      return undefined;
    } catch (error) {
      kept = kept.slice(done);
      if (isTemporary(error)) return error as Error;
      drop();
      throw error;
    }
  };
  const retryLater = (): void => {
    cancelRetry ??= clock.after(retryMilliseconds, () => {
      cancelRetry = undefined;
      try {
        if (drain()) retryLater();
      } catch (error) {
        onError(error as Error);
      }
    });
  };
  return {
    write: (text) => {
      const bytes = Buffer.from(text);
      const failure = drain();
      if (failure && keptBytes + bytes.length > maxKeptBytes) throw failure;
      kept.push(bytes);
      keptBytes += bytes.length;
      if (failure || drain()) retryLater();
    },
    close: async () => {
      cancelRetry?.();
      try {
        const failure = drain();
        if (failure) onError(new Error(`${path}: ${keptBytes} bytes were not written`, { cause: failure }));
      } catch (error) {
        onError(error as Error);
      }
      closeSync(descriptor);
    },
  };
}

/** The pipe is full, or has no reader at the moment. */
const isTemporary = (error: unknown): boolean =>
  ["EAGAIN", "EPIPE"].includes((error as NodeJS.ErrnoException).code ?? "");
