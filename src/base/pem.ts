// PEM (RFC 7468): the encoded blocks of a text, read in one pass so that no text costs more than its length.

export interface PemBlock {
  /** What the boundary lines say, such as `CERTIFICATE`. */
  readonly type: string;
  /** Whether the block opens with headers such as `Proc-Type: 4,ENCRYPTED`. */
  readonly hasHeaders: boolean;
  /** The block with its boundary lines. */
  readonly text: string;
  readonly bytes: Buffer;
}

const begin = "-----BEGIN ";
const end = "-----END ";
const dashes = "-----";

/** The blocks of a text, in order. Anything between blocks, and a block that is not closed, is skipped. */
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
    // A boundary of another type ends the search of this block, too: searching on would cost quadratic time.
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
