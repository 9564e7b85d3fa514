// Decodes the compressed header blocks of one connection (RFC 7541). Blocks must be decoded in order of
// arrival, as they modify the dynamic table.
import { decodeHuffman } from "./huffman.ts";
import { type Field, staticTable } from "./static-table.ts";

/** The block is invalid: the state of the dynamic table is unknown, so the connection must be closed. */
export class CompressionError extends Error {
  override readonly name = "CompressionError";
}

const tableBytes = 4096;
const sizeOf = ({ name, value }: Field): number => name.length + value.length + 32;

export class HeaderDecoder {
  /** The newest entry is the last. */
  private table: Field[] = [];
  private size = 0;
  private limit = tableBytes;
  private block: Buffer = Buffer.alloc(0);
  private at = 0;

  /** Calls `visit` for each field, in order. */
  decode(block: Buffer, visit: (field: Field) => void): void {
    this.block = block;
    this.at = 0;
    let fields = 0;
    while (this.at < block.length) {
      const first = block[this.at]!;
      if (first >= 0x80) visit(this.indexed(this.integer(7)));
      else if (first >= 0x40) visit(this.keep(this.literal(6)));
      else if (first < 0x20) visit(this.literal(4));
      else {
        if (fields > 0) throw new CompressionError("the table changes its size in the middle of a block");
        this.resize(this.integer(5));
        continue;
      }
      fields++;
    }
  }

  private indexed(number: number): Field {
    const dynamic = number - staticTable.length;
    const field = dynamic < 0 ? staticTable[number] : this.table[this.table.length - 1 - dynamic];
    if (!field || number === 0) throw new CompressionError(`there is no header field number ${number}`);
    return field;
  }

  private literal(prefix: number): Field {
    const number = this.integer(prefix);
    const name = number === 0 ? this.text() : this.indexed(number).name;
    return { name, value: this.text(), problem: undefined };
  }

  private keep(field: Field): Field {
    const size = sizeOf(field);
    this.shrinkTo(this.limit - size);
    if (size <= this.limit) {
      this.table.push(field);
      this.size += size;
    }
    return field;
  }

  private resize(limit: number): void {
    if (limit > tableBytes) throw new CompressionError(`a table of ${limit} bytes was not offered`);
    this.limit = limit;
    this.shrinkTo(limit);
  }

  private shrinkTo(bytes: number): void {
    let evicted = 0;
    while (this.size > bytes && evicted < this.table.length) this.size -= sizeOf(this.table[evicted++]!);
    if (evicted > 0) this.table.splice(0, evicted);
  }

  /** Reads an integer whose first byte also contains the representation's bit pattern. */
  private integer(prefix: number): number {
    const maxPrefix = (1 << prefix) - 1;
    let value = this.block[this.at++]! & maxPrefix;
    if (value < maxPrefix) return value;
    for (let shift = 0; shift <= 21; shift += 7) {
      if (this.at >= this.block.length) throw new CompressionError("a number is cut off");
      const byte = this.block[this.at++]!;
      value += (byte & 127) << shift;
      if (byte < 128) return value;
    }
    throw new CompressionError("a number is too large");
  }

  private text(): string {
    if (this.at >= this.block.length) throw new CompressionError("a text is missing");
    const coded = this.block[this.at]! >= 0x80;
    const length = this.integer(7);
    const start = this.at;
    this.at += length;
    if (this.at > this.block.length) throw new CompressionError("a text is cut off");
    if (!coded) return this.block.toString("latin1", start, this.at);
    const text = decodeHuffman(this.block, start, this.at);
    if (text === undefined) throw new CompressionError("a text is not in the Huffman code");
    return text;
  }
}
