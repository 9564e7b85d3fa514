// DER (X.690), to the extent needed for certificates and certificate requests: node:crypto verifies
// signatures and reads names, but exposes neither the criticality of extensions nor their content, and cannot
// issue certificates.

export interface DerItem {
  readonly tag: number;
  /** The content octets. */
  readonly content: Uint8Array;
  /** The item including its header. */
  readonly whole: Uint8Array;
}

/** Parses the consecutive items in `bytes`. */
export function derItems(bytes: Uint8Array): DerItem[] {
  const items: DerItem[] = [];
  for (let at = 0; at < bytes.length;) {
    const tag = bytes[at]!;
    let length = bytes[at + 1] ?? Number.NaN;
    let start = at + 2;
    if (length > 0x80) {
      const octets = length - 0x80;
      length = 0;
      for (let i = 0; i < octets; i++) length = length * 256 + (bytes[start + i] ?? Number.NaN);
      start += octets;
    }
    const end = start + length;
    if (!(end <= bytes.length) || length === 0x80) throw new Error("asn1: syntax error: data truncated");
    items.push({ tag, content: bytes.subarray(start, end), whole: bytes.subarray(at, end) });
    at = end;
  }
  return items;
}

export interface Extension {
  readonly oid: string;
  readonly critical: boolean;
  readonly value: Uint8Array;
}

/** Returns the extensions of a certificate in DER. */
export function certificateExtensions(raw: Uint8Array): Extension[] {
  const [certificate] = derItems(raw);
  const [body] = derItems(certificate!.content);
  const list = derItems(body!.content).find(({ tag }) => tag === 0xa3);
  if (!list) return [];
  return derItems(derItems(list.content)[0]!.content).map(({ content }) => {
    const parts = derItems(content);
    return {
      oid: oidText(parts[0]!.content),
      critical: parts.length === 3 && parts[1]!.content[0] !== 0,
      value: parts.at(-1)!.content,
    };
  });
}

export function oidText(bytes: Uint8Array): string {
  const arcs: number[] = [];
  let arc = 0;
  for (const byte of bytes) {
    arc = arc * 128 + (byte & 0x7f);
    if (byte & 0x80) continue;
    if (arcs.length) arcs.push(arc);
    else arcs.push(Math.min(2, Math.floor(arc / 40)), arc - 40 * Math.min(2, Math.floor(arc / 40)));
    arc = 0;
  }
  return arcs.join(".");
}

const item = (tag: number, content: Uint8Array): Uint8Array => {
  const { length } = content;
  const header =
    length < 0x80
      ? [tag, length]
      : length < 0x100
        ? [tag, 0x81, length]
        : [tag, 0x82, length >> 8, length & 0xff];
  if (length > 0xffff) throw new Error(`${length} bytes are too many for a certificate`);
  return Buffer.concat([Uint8Array.from(header), content]);
};

export const sequence = (...parts: readonly Uint8Array[]): Uint8Array => item(0x30, Buffer.concat(parts));
export const set = (...parts: readonly Uint8Array[]): Uint8Array => item(0x31, Buffer.concat(parts));
export const octets = (content: Uint8Array): Uint8Array => item(0x04, content);
export const bits = (content: Uint8Array, unused = 0): Uint8Array =>
  item(0x03, Buffer.concat([Uint8Array.of(unused), content]));
export const utf8 = (text: string): Uint8Array => item(0x0c, Buffer.from(text));
/** Encodes text as the most restricted string type that can hold it: PrintableString or UTF8String. */
export const printableOrUtf8 = (text: string): Uint8Array =>
  /^[\w '()+,\-./:=?]*$/.test(text) && !text.includes("_") ? item(0x13, Buffer.from(text)) : utf8(text);
export const bool = (value: boolean): Uint8Array => item(0x01, Uint8Array.of(value ? 0xff : 0));
/** A context-specific tag; `constructed` if it contains further items. */
export const tagged = (number: number, content: Uint8Array, constructed: boolean): Uint8Array =>
  item((constructed ? 0xa0 : 0x80) + number, content);

/** Encodes a non-negative integer from its big-endian bytes. */
export const integer = (bytes: Uint8Array): Uint8Array => {
  let start = 0;
  while (start < bytes.length - 1 && bytes[start] === 0) start++;
  const trimmed = bytes.subarray(start);
  return item(0x02, trimmed[0]! & 0x80 ? Buffer.concat([Uint8Array.of(0), trimmed]) : trimmed);
};

export const oid = (text: string): Uint8Array => {
  const [first = 0, second = 0, ...rest] = text.split(".").map(Number);
  const bytes = [first * 40 + second, ...rest].flatMap((arc) => {
    const digits = [arc & 0x7f];
    for (let left = Math.floor(arc / 128); left > 0; left = Math.floor(left / 128))
      digits.unshift((left & 0x7f) | 0x80);
    return digits;
  });
  return item(0x06, Uint8Array.from(bytes));
};

/** Encodes a time: two-digit years up to 2049, four digits after. */
export const time = (date: Date): Uint8Array => {
  const digits = date.toISOString().replace(/[-:T]|\..*/g, "");
  return date.getUTCFullYear() < 2050
    ? item(0x17, Buffer.from(`${digits.slice(2)}Z`))
    : item(0x18, Buffer.from(`${digits}Z`));
};
