// Reads bytes as UTF-8 as Go's JSON decoder does: each byte that is not part of a character is replaced.
import { isUtf8 } from "node:buffer";

export function lossyText(bytes: Uint8Array): string {
  const source = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  return (isUtf8(source) ? source : replaced(source)).toString("utf8");
}

const replacement = [0xef, 0xbf, 0xbd];

function replaced(source: Buffer): Buffer {
  const out = Buffer.allocUnsafe(source.length * replacement.length);
  let end = 0;
  for (let at = 0; at < source.length;) {
    const length = characterLength(source, at);
    for (let offset = 0; offset < length; offset++) out[end++] = source[at + offset]!;
    if (length === 0) for (const byte of replacement) out[end++] = byte;
    at += Math.max(length, 1);
  }
  return out.subarray(0, end);
}

/** Returns the number of bytes of the character at an offset; 0 if there is none. */
function characterLength(bytes: Buffer, at: number): number {
  const lead = bytes[at]!;
  if (lead < 0x80) return 1;
  if (lead < 0xc2 || lead > 0xf4) return 0;
  const length = lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : 4;
  // Overlong forms, surrogates and numbers above the last character are excluded by the second byte.
  const low = lead === 0xe0 ? 0xa0 : lead === 0xf0 ? 0x90 : 0x80;
  const high = lead === 0xed ? 0x9f : lead === 0xf4 ? 0x8f : 0xbf;
  const second = bytes[at + 1] ?? 0;
  if (second < low || second > high) return 0;
  for (let offset = 2; offset < length; offset++) if (((bytes[at + offset] ?? 0) & 0xc0) !== 0x80) return 0;
  return length;
}
