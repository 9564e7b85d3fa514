// A log file that is rotated when it grows too large: `audit.log` becomes `audit-<time>.log` (or `….log.gz`),
// and old files are removed by number and age.
import {
  closeSync,
  existsSync,
  fchmodSync,
  fstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  renameSync,
  rmSync,
  writeSync,
} from "node:fs";
import { createReadStream, createWriteStream } from "node:fs";
import { basename, dirname, extname, join } from "node:path";
import { pipeline } from "node:stream/promises";
import { createGzip } from "node:zlib";
import type { Clock } from "#base";

export interface RotatingFileOptions {
  readonly path: string;
  /** Maximum size of a file. */
  readonly maxBytes: number;
  /** Number of old files to keep; 0 is unlimited. */
  readonly maxBackups: number;
  /** Days to keep old files, by the time in their name; 0 keeps them indefinitely. */
  readonly maxAgeDays: number;
  readonly compress: boolean;
  readonly clock: Clock;
  /** Called when old files cannot be compressed or removed. */
  readonly onError: (error: Error) => void;
}

export interface RotatingFile {
  /** Appends text; throws if it cannot be written. */
  write(text: string): void;
  close(): Promise<void>;
}

const dayMilliseconds = 24 * 60 * 60 * 1000;
const ownerOnly = 0o600;
/** Holds what the log backend writes at once, unless bodies are very large. */
const scratchBytes = 256 * 1024;
/** Maximum size in UTF-8 of one UTF-16 code unit. */
const maxBytesPerUnit = 3;

export function rotatingFile(options: RotatingFileOptions): RotatingFile {
  const { path, maxBytes, clock } = options;
  let descriptor: number | undefined;
  let size = 0;
  /** The last write ended within a line. */
  let isTorn = false;
  // Writes are synchronous, so one buffer serves all of them.
  const scratch = Buffer.allocUnsafeSlow(scratchBytes);
  let cleaning: Promise<void> | undefined;
  let cleanAgain = false;

  const open = (mode = ownerOnly): void => {
    mkdirSync(dirname(path), { recursive: true, mode: 0o755 });
    descriptor = openSync(path, "a", mode);
    ({ size } = fstatSync(descriptor));
  };
  const rotate = (): void => {
    const { mode } = fstatSync(descriptor!);
    closeSync(descriptor!);
    descriptor = undefined;
    // Another program may have moved the log away.
    if (existsSync(path)) renameSync(path, backupName(path, clock.now()));
    open();
    fchmodSync(descriptor!, mode & 0o777);
    clean();
  };
  const clean = (): void => {
    if (cleaning) {
      cleanAgain = true;
      return;
    }
    cleaning = cleanUp(options)
      .catch(options.onError)
      .finally(() => {
        cleaning = undefined;
        if (!cleanAgain) return;
        cleanAgain = false;
        clean();
      });
  };
  const append = (bytes: Uint8Array, length: number): void => {
    let at = 0;
    try {
      while (at < length) at += writeSync(descriptor!, bytes, at, length - at);
      isTorn = false;
    } finally {
      size += at;
      if (at > 0 && at < length) isTorn = true;
    }
  };
  open();
  clean();
  return {
    write: (text) => {
      const bytes = text.length * maxBytesPerUnit <= scratch.length ? scratch : Buffer.from(text);
      const length = bytes === scratch ? scratch.write(text) : bytes.length;
      if (length > maxBytes) throw new Error(`${length} bytes are more than a file may have (${maxBytes})`);
      if (descriptor === undefined) open();
      if (isTorn) append(lineEnd, lineEnd.length);
      if (size + length > maxBytes) rotate();
      append(bytes, length);
    },
    close: async () => {
      if (descriptor !== undefined) closeSync(descriptor);
      descriptor = undefined;
      while (cleaning) await cleaning;
    },
  };
}

const lineEnd = Buffer.from("\n");

const timeText = (milliseconds: number): string =>
  new Date(milliseconds).toISOString().replace("Z", "").replaceAll(":", "-");

/** Returns a name such as `audit-2024-05-06T07-08-09.123.log` (UTC) that is not in use. */
function backupName(path: string, now: number): string {
  const extension = extname(path);
  const folder = dirname(path);
  const taken = new Set(readdirSync(folder));
  for (let at = now; ; at++) {
    const name = `${basename(path, extension)}-${timeText(at)}${extension}`;
    if (!taken.has(name) && !taken.has(`${name}.gz`)) return join(folder, name);
  }
}

interface Backup {
  readonly file: string;
  readonly at: number;
}

/** Returns the rotated files, the newest first. */
function backupsOf(path: string): Backup[] {
  const extension = extname(path);
  const start = `${basename(path, extension)}-`;
  return readdirSync(dirname(path), { withFileTypes: true })
    .flatMap((entry): Backup[] => {
      if (!entry.isFile()) return [];
      const { name } = entry;
      const plain = name.endsWith(".gz") ? name.slice(0, -3) : name;
      if (!plain.startsWith(start) || !plain.endsWith(extension)) return [];
      const text = plain.slice(start.length, plain.length - extension.length);
      const [, day, hour, minute, rest] = /^(\d{4}-\d\d-\d\dT)(\d\d)-(\d\d)-(\d\d\.\d{3})$/.exec(text) ?? [];
      const at = Date.parse(`${day}${hour}:${minute}:${rest}Z`);
      return Number.isNaN(at) ? [] : [{ file: join(dirname(path), name), at }];
    })
    .toSorted((one, other) => other.at - one.at);
}

async function cleanUp(options: RotatingFileOptions): Promise<void> {
  const { path, maxBackups, maxAgeDays, compress, clock } = options;
  const oldest = maxAgeDays > 0 ? clock.now() - maxAgeDays * dayMilliseconds : -Infinity;
  const backups = backupsOf(path);
  const kept = backups.filter(({ at }, index) => (maxBackups <= 0 || index < maxBackups) && at >= oldest);
  for (const { file } of backups) if (!kept.some((each) => each.file === file)) rmSync(file, { force: true });
  if (!compress) return;
  for (const { file } of kept) if (!file.endsWith(".gz")) await compressFile(file);
}

/** Compresses a file under a temporary name, which is replaced once it is complete. */
async function compressFile(file: string): Promise<void> {
  const partial = `${file}.gz.partial`;
  await pipeline(
    createReadStream(file),
    createGzip(),
    createWriteStream(partial, { mode: ownerOnly, flags: "w" }),
  );
  renameSync(partial, `${file}.gz`);
  rmSync(file, { force: true });
}
