// D-Bus messages, as far as needed for logind and systemd: little endian, basic types and variants of them.

export type DbusValue = string | number | bigint | boolean;

export interface DbusMessage {
  readonly type: "call" | "return" | "error" | "signal";
  readonly serial: number;
  readonly replySerial?: number;
  readonly path?: string;
  readonly interface?: string;
  readonly member?: string;
  readonly errorName?: string;
  /** The connection that sent it, as determined by the bus. */
  readonly sender?: string;
  /** Empty if it has values of other types. */
  readonly body: readonly DbusValue[];
}

export interface DbusCall {
  readonly destination: string;
  readonly path: string;
  readonly interface: string;
  readonly member: string;
  readonly signature?: string;
  readonly body?: readonly DbusValue[];
}

const types = ["", "call", "return", "error", "signal"] as const;
const fields = {
  path: 1,
  interface: 2,
  member: 3,
  errorName: 4,
  replySerial: 5,
  destination: 6,
  sender: 7,
  signature: 8,
};
const alignments: Readonly<Record<string, number>> = {
  y: 1,
  b: 4,
  i: 4,
  u: 4,
  h: 4,
  s: 4,
  o: 4,
  g: 1,
  t: 8,
  x: 8,
};

class Writer {
  readonly #bytes: number[] = [];
  align(to: number): this {
    while (this.#bytes.length % to !== 0) this.#bytes.push(0);
    return this;
  }
  byte(value: number): this {
    this.#bytes.push(value);
    return this;
  }
  uint32(value: number): this {
    this.align(4);
    for (let shift = 0; shift < 32; shift += 8) this.#bytes.push((value >>> shift) & 0xff);
    return this;
  }
  text(value: string): this {
    const bytes = Buffer.from(value);
    this.uint32(bytes.length);
    this.#bytes.push(...bytes, 0);
    return this;
  }
  signature(value: string): this {
    this.#bytes.push(value.length, ...Buffer.from(value), 0);
    return this;
  }
  value(type: string, value: DbusValue): this {
    if (type === "s" || type === "o") return this.text(String(value));
    if (type === "g") return this.signature(String(value));
    if (type === "b") return this.uint32(value ? 1 : 0);
    return this.uint32(Number(value));
  }
  get bytes(): Buffer {
    return Buffer.from(this.#bytes);
  }
}

export function encodeCall(call: DbusCall, serial: number): Buffer {
  const { destination, path, interface: name, member, signature = "", body = [] } = call;
  const content = new Writer();
  signature.split("").forEach((type, at) => content.value(type, body[at]!));
  const header = new Writer();
  const put = (field: number, type: string, value: string): void => {
    header.align(8).byte(field).signature(type).value(type, value);
  };
  put(fields.path, "o", path);
  put(fields.interface, "s", name);
  put(fields.member, "s", member);
  put(fields.destination, "s", destination);
  if (signature !== "") put(fields.signature, "g", signature);
  const fixed = new Writer().byte(0x6c).byte(1).byte(0).byte(1);
  fixed.uint32(content.bytes.length).uint32(serial).uint32(header.bytes.length);
  const head = Buffer.concat([fixed.bytes, header.bytes]);
  return Buffer.concat([head, Buffer.alloc(-head.length & 7), content.bytes]);
}

/** Decodes the first complete message and returns its length; undefined while it is incomplete. */
export function decodeMessage(
  bytes: Buffer,
): { readonly message: DbusMessage; readonly length: number } | undefined {
  if (bytes.length < 16) return undefined;
  if (bytes[0] !== 0x6c) throw new Error("unsupported byte order on the bus");
  const headerLength = bytes.readUInt32LE(12);
  const bodyAt = (16 + headerLength + 7) & ~7;
  const length = bodyAt + bytes.readUInt32LE(4);
  if (bytes.length < length) return undefined;
  const found: Record<number, DbusValue> = {};
  const header = new Reader(bytes, 16);
  while (header.at < 16 + headerLength) {
    header.align(8);
    const field = header.byte();
    found[field] = header.value(header.signature());
  }
  const body = new Reader(bytes, bodyAt);
  const text = (field: number): string | undefined =>
    found[field] === undefined ? undefined : String(found[field]);
  const [path, name, member, errorName, sender] = [
    fields.path,
    fields.interface,
    fields.member,
    fields.errorName,
    fields.sender,
  ].map(text);
  const replySerial = found[fields.replySerial];
  return {
    length,
    message: {
      type: types[bytes[1]!] || "signal",
      serial: bytes.readUInt32LE(8),
      ...(replySerial !== undefined && { replySerial: Number(replySerial) }),
      ...(path !== undefined && { path }),
      ...(name !== undefined && { interface: name }),
      ...(member !== undefined && { member }),
      ...(errorName !== undefined && { errorName }),
      ...(sender !== undefined && { sender }),
      body: valuesOf(body, String(found[fields.signature] ?? "")),
    },
  };
}

/** Any user of the machine can send values of any type. */
function valuesOf(body: Reader, signature: string): readonly DbusValue[] {
  try {
    return signature.split("").map((type) => body.value(type));
  } catch {
    return [];
  }
}

class Reader {
  at: number;
  readonly #bytes: Buffer;
  constructor(bytes: Buffer, at: number) {
    this.#bytes = bytes;
    this.at = at;
  }
  align(to: number): void {
    this.at = Math.ceil(this.at / to) * to;
  }
  byte(): number {
    return this.#bytes[this.at++]!;
  }
  signature(): string {
    const length = this.byte();
    const text = this.#bytes.toString("latin1", this.at, this.at + length);
    this.at += length + 1;
    return text;
  }
  value(type: string): DbusValue {
    const size = alignments[type];
    if (type === "v") return this.value(this.signature());
    if (size === undefined) throw new Error(`unsupported value type ${type}`);
    this.align(size);
    if (type === "y") return this.byte();
    if (type === "g") return this.signature();
    if (type === "t" || type === "x") {
      this.at += 8;
      return type === "t"
        ? this.#bytes.readBigUInt64LE(this.at - 8)
        : this.#bytes.readBigInt64LE(this.at - 8);
    }
    const number = this.#bytes.readUInt32LE(this.at);
    this.at += 4;
    if (type === "b") return number !== 0;
    if (type === "i") return number | 0;
    if (type !== "s" && type !== "o") return number;
    const text = this.#bytes.toString("utf8", this.at, this.at + number);
    this.at += number + 1;
    return text;
  }
}
