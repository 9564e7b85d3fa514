// The DNS message format (RFC 1035, EDNS0 of RFC 6891): parses queries and serializes replies. Forwarded
// replies are passed on as bytes.
import { parseIp } from "#base";

export const recordTypes = {
  A: 1,
  NS: 2,
  CNAME: 5,
  SOA: 6,
  PTR: 12,
  TXT: 16,
  AAAA: 28,
  SRV: 33,
  OPT: 41,
  ANY: 255,
} as const;

export const responseCodes = {
  noError: 0,
  formatError: 1,
  serverFailure: 2,
  noSuchName: 3,
  notImplemented: 4,
  refused: 5,
} as const;
export type ResponseCode = (typeof responseCodes)[keyof typeof responseCodes];

export type ResourceRecord = { readonly name: string; readonly ttl: number } & (
  | { readonly type: "A" | "AAAA"; readonly address: string }
  | { readonly type: "CNAME" | "PTR" | "NS"; readonly target: string }
  | { readonly type: "SRV"; readonly weight: number; readonly port: number; readonly target: string }
  | { readonly type: "TXT"; readonly text: string }
  | { readonly type: "SOA"; readonly primary: string; readonly contact: string; readonly serial: number }
);

export interface Query {
  readonly id: number;
  readonly opcode: number;
  readonly recursionDesired: boolean;
  readonly checkingDisabled: boolean;
  /** In lower case, without the trailing dot; empty for the root. */
  readonly name: string;
  readonly type: number;
  readonly class: number;
  /** The question section as received: its case is echoed. */
  readonly question: Uint8Array;
  /** EDNS0 options of the client; undefined without EDNS0. */
  readonly edns: { readonly payload: number; readonly dnssec: boolean } | undefined;
}

/** A query, an invalid message that gets an error reply, or a message to be ignored. */
export type ReadQuery =
  | { readonly is: "query"; readonly query: Query }
  | { readonly is: "broken"; readonly id: number; readonly code: ResponseCode }
  | { readonly is: "ignored" };

const headerLength = 12;
const maxNameLength = 255;
const internet = 1;

export function readQuery(bytes: Uint8Array): ReadQuery {
  if (bytes.length < headerLength) return { is: "ignored" };
  const view = viewOf(bytes);
  const id = view.getUint16(0);
  const flags = view.getUint16(2);
  // Never answer a response: two servers could loop forever.
  if ((flags & 0x8000) !== 0) return { is: "ignored" };
  const opcode = (flags >> 11) & 15;
  if (opcode !== 0) return { is: "broken", id, code: responseCodes.notImplemented };
  const broken: ReadQuery = { is: "broken", id, code: responseCodes.formatError };
  if (view.getUint16(4) !== 1) return broken;
  try {
    const name = readName(bytes, headerLength);
    const end = name.end + 4;
    if (end > bytes.length) return broken;
    const edns = readEdns(bytes, end, view.getUint16(6) + view.getUint16(8) + view.getUint16(10));
    return {
      is: "query",
      query: {
        id,
        opcode,
        recursionDesired: (flags & 0x0100) !== 0,
        checkingDisabled: (flags & 0x0010) !== 0,
        name: name.text,
        type: view.getUint16(name.end),
        class: view.getUint16(name.end + 2),
        question: bytes.slice(headerLength, end),
        edns,
      },
    };
  } catch {
    return broken;
  }
}

export const isInternet = (query: Query): boolean => query.class === internet;

/** Iterates over the records of a message with their section, type and offsets. */
export function* recordsOf(
  bytes: Uint8Array,
): Generator<{ start: number; type: number; ttlAt: number; data: number; end: number; section: number }> {
  const view = viewOf(bytes);
  let at = headerLength;
  for (let left = view.getUint16(4); left > 0; left--) at = skipName(bytes, at) + 4;
  for (const section of [0, 1, 2]) {
    for (let left = view.getUint16(6 + 2 * section); left > 0; left--) {
      const start = at;
      const head = skipName(bytes, at);
      const end = head + 10 + view.getUint16(head + 8);
      if (end > bytes.length) throw new RangeError("a record is truncated");
      yield { start, type: view.getUint16(head), ttlAt: head + 4, data: head + 10, end, section };
      at = end;
    }
  }
}

function readEdns(bytes: Uint8Array, from: number, records: number): Query["edns"] {
  const view = viewOf(bytes);
  let at = from;
  for (let left = records; left > 0; left--) {
    const head = skipName(bytes, at);
    if (view.getUint16(head) === recordTypes.OPT)
      return {
        payload: view.getUint16(head + 2),
        dnssec: (view.getUint16(head + 6) & 0x8000) !== 0,
      };
    at = head + 10 + view.getUint16(head + 8);
  }
  return undefined;
}

/**
 * Reads a name, following compression pointers to earlier positions only, which prevents loops. The header
 * contains no names.
 */
export function readName(bytes: Uint8Array, start: number): { readonly text: string; readonly end: number } {
  const labels: string[] = [];
  let [at, end, limit, length] = [start, -1, start, 0];
  for (;;) {
    const size = byteAt(bytes, at);
    if (size >= 0xc0) {
      const target = ((size & 0x3f) << 8) | byteAt(bytes, at + 1);
      if (end < 0) end = at + 2;
      if (target >= limit) throw new RangeError("a name points forward");
      if (target < headerLength) throw new RangeError("a name points into the header");
      at = limit = target;
      continue;
    }
    if (size > 63) throw new RangeError("a label is too long");
    if (size === 0) return { text: labels.join("."), end: end < 0 ? at + 1 : end };
    length += size + 1;
    if (length >= maxNameLength || at + 1 + size > bytes.length) throw new RangeError("a name is too long");
    labels.push(labelText(bytes.subarray(at + 1, at + 1 + size)));
    at += 1 + size;
  }
}

/**
 * Returns the text of a label. A dot within a label becomes a character that is no byte: otherwise names with
 * different labels, such as `a.b` of one and of two labels, would share cached answers. As Latin-1 it is written
 * as a dot again.
 */
const labelText = (bytes: Uint8Array): string =>
  String.fromCharCode(...bytes)
    .replaceAll(/[A-Z]/g, (letter) => letter.toLowerCase())
    .replaceAll(".", dotInLabel);
const dotInLabel = "\u012E";

function skipName(bytes: Uint8Array, start: number): number {
  for (let at = start; ;) {
    const size = byteAt(bytes, at);
    if (size === 0) return at + 1;
    if (size >= 0xc0) return at + 2;
    at += 1 + size;
  }
}

function byteAt(bytes: Uint8Array, at: number): number {
  const byte = bytes[at];
  if (byte === undefined) throw new RangeError("the message is truncated");
  return byte;
}

const viewOf = (bytes: Uint8Array): DataView => new DataView(bytes.buffer, bytes.byteOffset, bytes.length);

export interface Reply {
  readonly code: ResponseCode;
  readonly authoritative: boolean;
  readonly answers: readonly ResourceRecord[];
  readonly authority?: readonly ResourceRecord[];
  readonly additional?: readonly ResourceRecord[];
}

/** Maximum UDP payload we accept; larger datagrams might be fragmented. */
export const ownPayload = 1232;

/** Returns the maximum size of a UDP reply. */
export const payloadOf = ({ edns }: Query): number =>
  edns ? Math.min(Math.max(edns.payload, 512), 4096) : 512;

/** Serializes as many records as fit; sets the TC bit if answers are missing. */
export function writeReply(query: Query, reply: Reply, limit: number): Uint8Array {
  const writer = new Writer(limit - (query.edns ? 11 : 0));
  writer.bytes(new Uint8Array(headerLength));
  writer.question(query);
  const answers = writer.records(reply.answers);
  const isTruncated = answers < reply.answers.length;
  const authority = isTruncated ? 0 : writer.records(reply.authority ?? []);
  const additional = isTruncated ? 0 : writer.records(reply.additional ?? []);
  if (query.edns) writer.options(query.edns.dnssec);
  const flags =
    0x8000 |
    (reply.authoritative ? 0x0400 : 0) |
    (isTruncated ? 0x0200 : 0) |
    (query.recursionDesired ? 0x0100 : 0) |
    0x0080 |
    (query.checkingDisabled ? 0x0010 : 0) |
    reply.code;
  return writer.finish([query.id, flags, 1, answers, authority, additional + (query.edns ? 1 : 0)]);
}

/** Returns an error reply to a message that is not a valid query. */
export function writeError(id: number, code: ResponseCode): Uint8Array {
  const bytes = new Uint8Array(headerLength);
  const view = viewOf(bytes);
  view.setUint16(0, id);
  view.setUint16(2, 0x8000 | code);
  return bytes;
}

/** Offsets beyond this cannot be encoded in a compression pointer. */
const maxPointer = 0x3fff;

class Writer {
  #buffer = Buffer.alloc(512);
  #length = 0;
  readonly #limit: number;
  readonly #names = new Map<string, number>();
  constructor(limit: number) {
    this.#limit = limit;
  }

  bytes(bytes: Uint8Array): void {
    const needed = this.#length + bytes.length;
    if (needed > this.#buffer.length)
      this.#buffer = Buffer.concat([this.#buffer], Math.max(needed, this.#buffer.length * 2));
    this.#buffer.set(bytes, this.#length);
    this.#length = needed;
  }

  question({ question, name }: Query): void {
    this.#remember(name, this.#length);
    this.bytes(question);
  }

  /** Writes records; returns how many fit. */
  records(records: readonly ResourceRecord[]): number {
    for (const [index, record] of records.entries()) {
      const before = this.#length;
      this.#record(record);
      if (this.#length <= this.#limit) continue;
      this.#length = before;
      for (const [name, at] of this.#names) if (at >= before) this.#names.delete(name);
      return index;
    }
    return records.length;
  }

  options(dnssec: boolean): void {
    this.bytes(Buffer.from([0, 0, recordTypes.OPT, ownPayload >> 8, ownPayload & 255, 0, 0]));
    this.bytes(Buffer.from([dnssec ? 0x80 : 0, 0, 0, 0]));
  }

  finish(header: readonly number[]): Uint8Array {
    for (const [index, value] of header.entries()) this.#buffer.writeUInt16BE(value, 2 * index);
    return this.#buffer.subarray(0, this.#length);
  }

  #record(record: ResourceRecord): void {
    this.#name(record.name);
    this.#numbers16(recordTypes[record.type], internet);
    this.#number32(record.ttl);
    const lengthAt = this.#length;
    this.#numbers16(0);
    switch (record.type) {
      case "A":
      case "AAAA":
        this.#address(record.type, parseIp(record.address)!);
        break;
      case "SRV":
        this.#numbers16(0, record.weight, record.port);
        this.#name(record.target, false);
        break;
      case "TXT":
        this.#text(record.text);
        break;
      case "SOA":
        this.#name(record.primary);
        this.#name(record.contact);
        for (const value of [record.serial, 7200, 1800, 86_400, record.ttl]) this.#number32(value);
        break;
      case "CNAME":
      case "PTR":
      case "NS":
        this.#name(record.target);
        break;
    }
    this.#buffer.writeUInt16BE(this.#length - lengthAt - 2, lengthAt);
  }

  /** Writes a name, replacing known suffixes by compression pointers where allowed. */
  #name(name: string, mayCompress = true): void {
    for (let rest = name; rest !== "";) {
      const offset = mayCompress ? this.#names.get(rest) : undefined;
      if (offset !== undefined) return this.#numbers16(0xc000 | offset);
      if (mayCompress) this.#names.set(rest, this.#length);
      if (this.#length > maxPointer) this.#names.delete(rest);
      const dot = rest.indexOf(".");
      this.#text(dot < 0 ? rest : rest.slice(0, dot));
      rest = dot < 0 ? "" : rest.slice(dot + 1);
    }
    this.bytes(Buffer.from([0]));
  }

  #remember(name: string, start: number): void {
    for (let [rest, at] = [name, start]; rest !== "";) {
      this.#names.set(rest, at);
      const dot = rest.indexOf(".");
      if (dot < 0) return;
      at += dot + 1;
      rest = rest.slice(dot + 1);
    }
  }

  #text(text: string): void {
    const bytes = Buffer.from(text, "latin1");
    this.bytes(Buffer.from([bytes.length]));
    this.bytes(bytes);
  }

  #address(type: "A" | "AAAA", bytes: Uint8Array): void {
    // A mapped IPv4 address is parsed to its four bytes.
    if (type === "AAAA" && bytes.length === 4) this.bytes(Buffer.from("00000000000000000000ffff", "hex"));
    this.bytes(bytes);
  }

  #numbers16(...values: readonly number[]): void {
    this.bytes(Buffer.from(values.flatMap((value) => [value >> 8, value & 255])));
  }

  #number32(value: number): void {
    const bytes = Buffer.alloc(4);
    bytes.writeUInt32BE(value >>> 0);
    this.bytes(bytes);
  }
}
