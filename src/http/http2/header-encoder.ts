// Encodes header blocks. The client's dynamic table is not used: a block is valid on any connection, and no
// memory is needed per connection.
import { staticNumbers } from "./static-table.ts";

/** Specific to HTTP/1.1 connections and not allowed in HTTP/2. */
const connectionHeaders = new Set([
  "connection",
  "keep-alive",
  "proxy-connection",
  "transfer-encoding",
  "upgrade",
]);

let block = Buffer.allocUnsafeSlow(4096);
let size = 0;

/** A header name with its last value: most headers of most responses repeat the same value. */
interface KnownName {
  /** Empty for headers that are not allowed in HTTP/2. */
  readonly start: Buffer;
  lastValue: string;
  /** The encoded field with the last value; empty if it is not cached. */
  lastField: Buffer;
}

const names = new Map<string, KnownName>();
const maxNames = 256;
/** Longer fields are not cached. */
const maxCachedField = 128;
const nothing = Buffer.alloc(0);
const statuses = new Map<number, Buffer>();

type Headers = Readonly<Record<string, string | readonly string[] | number>>;

/** Encodes the header block of a response. The result is overwritten by the next call. */
export function encodeHeaders(status: number, headers: Headers): Buffer {
  size = 0;
  append(statusField(status));
  return withFields(headers);
}

/** Encodes trailers. The result is overwritten by the next call. */
export function encodeTrailers(trailers: Headers): Buffer {
  size = 0;
  return withFields(trailers);
}

function withFields(headers: Headers): Buffer {
  for (const name in headers) {
    const value = headers[name]!;
    if (typeof value === "object") for (const each of value) field(name, each);
    else field(name, typeof value === "number" ? String(value) : value);
  }
  return block.subarray(0, size);
}

function field(name: string, value: string): void {
  const known = knownName(name);
  if (known.lastValue === value && known.lastField.length > 0) return append(known.lastField);
  if (known.start.length === 0) return;
  const start = size;
  append(known.start);
  text(value);
  // A field is cached when its value occurs twice in a row.
  if (known.lastValue !== value) {
    known.lastValue = value.length < maxCachedField ? value : "";
    known.lastField = nothing;
  } else if (size - start <= maxCachedField) known.lastField = Buffer.from(block.subarray(start, size));
}

function text(value: string): void {
  ensureRoom(value.length + 5);
  const lengthAt = size;
  if (value.length >= 127) return longText(lengthAt, value);
  size++;
  for (let at = 0; at < value.length; at++) {
    const code = value.charCodeAt(at);
    if (code > 126) return longText(lengthAt, value);
    block[size++] = code < 32 && code !== 9 ? 32 : code;
  }
  block[lengthAt] = value.length;
}

/**
 * Encodes any string: its characters are bytes, as in HTTP/1.1 and in received headers. Text with characters
 * that are no bytes is encoded as UTF-8.
 */
function longText(lengthAt: number, value: string): void {
  const bytes = Buffer.from(value, /[^\0-\xff]/.test(value) ? "utf8" : "latin1");
  for (let at = 0; at < bytes.length; at++)
    if ((bytes[at]! < 32 && bytes[at] !== 9) || bytes[at] === 127) bytes[at] = 32;
  size = lengthAt;
  ensureRoom(bytes.length + 5);
  integer(bytes.length, 7, 0);
  size += bytes.copy(block, size);
}

function knownName(name: string): KnownName {
  let known = names.get(name);
  if (!known) {
    known = { start: encodeName(name.toLowerCase()), lastValue: "", lastField: nothing };
    if (names.size < maxNames) names.set(name, known);
  }
  return known;
}

function encodeName(name: string): Buffer {
  if (connectionHeaders.has(name)) return nothing;
  const start = size;
  const number = staticNumbers.get(name);
  ensureRoom(name.length + 8);
  if (number !== undefined) integer(number, 4, 0);
  else {
    block[size++] = 0;
    integer(Buffer.byteLength(name), 7, 0);
    size += block.write(name, size);
  }
  const made = Buffer.allocUnsafeSlow(size - start);
  block.copy(made, 0, start, size);
  size = start;
  return made;
}

function statusField(status: number): Buffer {
  let known = statuses.get(status);
  if (!known) {
    const number = [200, 204, 206, 304, 400, 404, 500].indexOf(status);
    known =
      number >= 0
        ? Buffer.from([0x88 + number])
        : Buffer.concat([Buffer.from([8, 3]), Buffer.from(String(status))]);
    if (statuses.size < maxNames) statuses.set(status, known);
  }
  return known;
}

function append(bytes: Buffer): void {
  ensureRoom(bytes.length);
  for (let at = 0; at < bytes.length; at++) block[size++] = bytes[at]!;
}

function integer(value: number, prefix: number, pattern: number): void {
  const most = (1 << prefix) - 1;
  if (value < most) {
    block[size++] = pattern | value;
    return;
  }
  block[size++] = pattern | most;
  let rest = value - most;
  for (; rest >= 128; rest = Math.floor(rest / 128)) block[size++] = (rest % 128) + 128;
  block[size++] = rest;
}

function ensureRoom(bytes: number): void {
  if (size + bytes <= block.length) return;
  const larger = Buffer.allocUnsafeSlow((size + bytes) * 2);
  block.copy(larger, 0, 0, size);
  block = larger;
}
