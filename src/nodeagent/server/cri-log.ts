// Reads log files in CRI format: lines `<time> <stdout|stderr> <F|P> <text>`; P marks a partial line.
import { constants, watch } from "node:fs";
import { type FileHandle, open, stat } from "node:fs/promises";
import { basename, dirname } from "node:path";
import type { Clock } from "#base";
import { fsErrorText } from "../errors.ts";

export interface ContainerLogQuery {
  readonly follow: boolean;
  readonly tailLines?: number;
  /** Start time in milliseconds. */
  readonly since?: number;
  readonly timestamps: boolean;
  readonly limitBytes?: number;
}

export interface LogReading {
  readonly path: string;
  readonly query: ContainerLogQuery;
  readonly clock: Clock;
  /** Reports whether more output may be written. */
  readonly isRunning: () => boolean | Promise<boolean>;
  readonly write: (bytes: Uint8Array) => Promise<void>;
  readonly signal: AbortSignal;
}

const chunkBytes = 64 * 1024;
const maxLineBytes = 16 * 1024 * 1024;
const pollMilliseconds = 1000;
const newline = 10;
const blank = 32;

/**
 * Writes the log as requested by the query. Following continues in the new file when the log is rotated, and
 * ends with the container.
 */
export async function readLog({ path, query, clock, isRunning, write, signal }: LogReading): Promise<void> {
  let file = await openLog(path).catch((error: Error) => {
    throw new Error(unresolvedText(path, error), { cause: error });
  });
  try {
    const out = lineWriter(query, write);
    if (out.isDone()) return;
    let position = query.tailLines === undefined ? 0 : await tailStart(file, query.tailLines);
    // The beginning of a line whose end is not written yet, in the parts in which it was read.
    let rest: Uint8Array[] = [];
    let restBytes = 0;
    const drain = async (): Promise<boolean> => {
      for (;;) {
        const buffer = Buffer.allocUnsafe(chunkBytes);
        const { bytesRead } = await file.read(buffer, 0, chunkBytes, position);
        if (bytesRead === 0) return true;
        position += bytesRead;
        const data = buffer.subarray(0, bytesRead);
        let from = 0;
        for (let at = data.indexOf(newline); at >= 0; at = data.indexOf(newline, from)) {
          const end = data.subarray(from, at);
          const isDone = out.line(restBytes > 0 ? Buffer.concat([...rest, end]) : end);
          from = at + 1;
          rest = [];
          restBytes = 0;
          if (isDone) {
            await out.flush();
            return false;
          }
        }
        rest.push(Uint8Array.from(data.subarray(from)));
        restBytes += bytesRead - from;
        if (restBytes > maxLineBytes)
          throw new Error(`a line of ${path} is longer than ${maxLineBytes} bytes`);
        await out.flush();
        if (signal.aborted) return false;
      }
    };
    if (!(await drain())) return;
    if (!query.follow) {
      if (restBytes > 0) out.line(Buffer.concat(rest));
      await out.flush();
      return;
    }
    const changes = changesOf(path, clock, signal);
    try {
      for (;;) {
        const wasRunning = await isRunning();
        // Checked first, since lines are written to the old file until it is replaced.
        const next = await rotatedTo(path, file);
        if (!(await drain())) {
          await next?.close();
          return;
        }
        if (next) {
          await file.close();
          file = next;
          position = 0;
          rest = [];
          restBytes = 0;
          continue;
        }
        if (!wasRunning || signal.aborted) return;
        await changes.wait();
      }
    } finally {
      changes.stop();
    }
  } finally {
    await file.close().catch(() => undefined);
  }
}

/** Returns the error text for a log that cannot be opened, worded as in the kubelet. */
export const unresolvedText = (path: string, error: Error): string =>
  `failed to try resolving symlinks in path ${JSON.stringify(path)}: ${fsErrorText(error).replace(/^open /, "lstat ")}`;

/** Opens the file that now has this path if it is a different one. */
async function rotatedTo(path: string, file: FileHandle): Promise<FileHandle | undefined> {
  const named = await stat(path).catch(() => undefined);
  if (!named || named.ino === (await file.stat()).ino) return undefined;
  return await openLog(path).catch(() => undefined);
}

/** Opens a log. A pod with access to the directory may put a pipe there, whose writer must not be waited for. */
export async function openLog(path: string, flags = 0): Promise<FileHandle> {
  const file = await open(path, constants.O_RDONLY | constants.O_NONBLOCK | flags);
  if ((await file.stat()).isFile()) return file;
  await file.close();
  throw new Error(`${path} is not a regular file`);
}

/** Waits for a change of the file, or until a short timeout. */
function changesOf(path: string, clock: Clock, signal: AbortSignal): { wait(): Promise<void>; stop(): void } {
  let changed = false;
  let wake: () => void = () => undefined;
  const watcher = watch(dirname(path), (_, name) => {
    if (name !== null && name !== basename(path)) return;
    changed = true;
    wake();
  });
  watcher.on("error", () => undefined);
  return {
    wait: async () => {
      if (!changed) {
        const early = new AbortController();
        wake = () => early.abort();
        await clock.sleep(pollMilliseconds, AbortSignal.any([signal, early.signal])).catch(() => undefined);
      }
      changed = false;
    },
    stop: () => watcher.close(),
  };
}

/** Returns the offset at which the last lines begin. Like in the kubelet, an incomplete line does not count. */
async function tailStart(file: FileHandle, lines: number): Promise<number> {
  const { size } = await file.stat();
  // The line before the wanted ones ends with one more newline.
  let left = lines + 1;
  let end = size;
  while (end > 0) {
    const from = Math.max(0, end - chunkBytes);
    const buffer = Buffer.allocUnsafe(end - from);
    await file.read(buffer, 0, end - from, from);
    for (
      let at = buffer.lastIndexOf(newline);
      at >= 0;
      at = at === 0 ? -1 : buffer.lastIndexOf(newline, at - 1)
    ) {
      if (--left === 0) return from + at + 1;
    }
    end = from;
  }
  return 0;
}

interface LineWriter {
  /** Takes a line without its newline; returns true when a limit is reached. */
  line(bytes: Uint8Array): boolean;
  /** Reports whether a limit is reached. */
  isDone(): boolean;
  flush(): Promise<void>;
}

function lineWriter(query: ContainerLogQuery, write: (bytes: Uint8Array) => Promise<void>): LineWriter {
  let parts: Uint8Array[] = [];
  let left = query.limitBytes ?? Infinity;
  // The number of lines limits only a log that is not followed.
  let linesLeft = query.follow ? Infinity : (query.tailLines ?? Infinity);
  let isLineStart = true;
  const put = (bytes: Uint8Array): void => {
    const taken = bytes.length > left ? bytes.subarray(0, left) : bytes;
    left -= taken.length;
    if (taken.length > 0) parts.push(taken);
  };
  const isDone = (): boolean => left <= 0 || linesLeft <= 0;
  return {
    isDone,
    line: (bytes) => {
      const parsed = parseLine(bytes);
      if (!parsed) return false;
      linesLeft--;
      if (query.since === undefined || Date.parse(parsed.time) >= query.since) {
        if (query.timestamps && isLineStart) put(Buffer.from(`${fixedTime(parsed.time)} `));
        put(parsed.text);
        if (!parsed.isPartial) put(Uint8Array.of(newline));
      }
      isLineStart = !parsed.isPartial || parsed.text.length === 0;
      return isDone();
    },
    flush: async () => {
      if (parts.length === 0) return;
      const all = Buffer.concat(parts);
      parts = [];
      await write(all);
    },
  };
}

/** Parses a CRI log line; returns undefined for a malformed one. */
export function parseLine(
  line: Uint8Array,
): { time: string; stream: string; isPartial: boolean; text: Uint8Array } | undefined {
  const first = line.indexOf(blank);
  const second = first < 0 ? -1 : line.indexOf(blank, first + 1);
  const third = second < 0 ? -1 : line.indexOf(blank, second + 1);
  if (third < 0) return undefined;
  const word = (from: number, to: number): string =>
    Buffer.from(line.buffer, line.byteOffset + from, to - from).toString("latin1");
  const stream = word(first + 1, second);
  if (stream !== "stdout" && stream !== "stderr") return undefined;
  const time = word(0, first);
  if (Number.isNaN(Date.parse(time))) return undefined;
  return {
    time,
    stream,
    isPartial: word(second + 1, third).split(":", 1)[0] === "P",
    text: line.subarray(third + 1),
  };
}

/** Formats the fractional seconds with exactly nine digits. */
function fixedTime(time: string): string {
  const found = /^([^.Z+]+?)(?:\.(\d+))?(Z|[-+]\d\d:\d\d)$/.exec(time);
  return found ? `${found[1]}.${(found[2] ?? "").padEnd(9, "0")}${found[3]}` : time;
}
