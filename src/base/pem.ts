// PEM (RFC 7468): extracts the encoded blocks of a text in one pass, in linear time.

export interface PemBlock {
  /** The label of the boundary lines, such as `CERTIFICATE`. */
  readonly type: string;
  /** Reports whether the block starts with headers such as `Proc-Type: 4,ENCRYPTED`. */
  readonly hasHeaders: boolean;
  /** The block including its boundary lines. */
  readonly text: string;
  readonly bytes: Buffer;
}

const begin = "-----BEGIN ";
const end = "-----END ";
const dashes = "-----";

/** Returns the blocks of a text, in order. Text between blocks and unterminated blocks are skipped. */
export function pemBlocks(text: string): PemBlock[] {
  const blocks: PemBlock[] = [];
  for (let at = text.indexOf(begin); at >= 0; at = text.indexOf(begin, at)) {
    const typeEnd = text.indexOf(dashes, at + begin.length);
    if (typeEnd < 0) break;
    const type = text.slice(at + begin.length, typeEnd);
    const bodyStart = typeEnd + dashes.length;
    const bodyEnd = text.indexOf(end, bodyStart);
    if (bodyEnd < 0) break;
    const blockEnd = bodyEnd + end.length + type.length + dashes.length;
    // A boundary of another type also terminates the search: searching on would take quadratic time.
    if (
      text.slice(bodyEnd, blockEnd) !== end + type + dashes ||
      !/^[\t ]*\r?\n/.test(text.slice(bodyStart, bodyStart + 80))
    ) {
      at = bodyEnd + end.length;
      continue;
    }
    const body = text.slice(bodyStart, bodyEnd);
    const hasHeaders = body.includes(":");
    blocks.push({ type, hasHeaders, text: text.slice(at, blockEnd), bytes: Buffer.from(body, "base64") });
    at = blockEnd;
  }
  return blocks;
}
