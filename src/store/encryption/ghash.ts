// GHASH (NIST SP 800-38D §6.4), the hash of AES-GCM, in constant time: products of bytes are looked up in vectors of
// sixteen entries, which stay in registers, and no address depends on data.
//
//   tables   block of a group (4) | byte of the power of the hash key (16) | nibble, half (4) | entry (16)
//            tables of the byte that reduces a product
//
// In a byte, the highest bit is the coefficient of the lowest power of x. The product of a nibble and a byte has two
// bytes, its halves.
import { type Code, WasmFunction, bytes, get, i32, repeat, set, vector } from "./wasm.ts";

export const blockBytes = 16;
/** The blocks that are multiplied before their sum is reduced. */
export const groupBlocks = 4;
const tablesPerByte = 4;
const byteTablesBytes = tablesPerByte * blockBytes;
const powerTablesBytes = blockBytes * byteTablesBytes;
const reductionAt = groupBlocks * powerTablesBytes;
/** Size of all tables. */
export const tablesBytes = reductionAt + byteTablesBytes;

/** x^128 is 1 + x + x^2 + x^7 modulo the polynomial of the field. */
const reductionByte = 0b1110_0001;
const zero = vector.constant([0, 0, 0, 0]);
const lowNibbles = vector.constant(Array.from({ length: 4 }, () => 0x0f0f0f0f));

/** The two halves of a block's nibbles. */
interface Nibbles {
  readonly high: number;
  readonly low: number;
}

const setNibbles = ({ high, low }: Nibbles, block: Code): Code => [
  ...set(low, block),
  ...set(high, bytes.shiftRight(get(low), 4)),
  ...set(low, vector.and(get(low), lowNibbles)),
];
/** Returns one half of the products of sixteen bytes and the byte that the tables are for. */
const products = ({ high, low }: Nibbles, tables: Code, offset: number, half: number): Code =>
  vector.xor(
    bytes.lookUp(vector.load(tables, offset + half * blockBytes), get(high)),
    bytes.lookUp(vector.load(tables, offset + (2 + half) * blockBytes), get(low)),
  );
/** Moves bytes to the next place; the last byte of the vector before becomes the first. */
const moveBytes = (before: Code, value: Code): Code =>
  bytes.pick(
    before,
    value,
    Array.from({ length: blockBytes }, (_, at) => at + blockBytes - 1),
  );

/**
 * `ghash(tables, from, to, sum)` adds the hash of the blocks to the block at `sum`. The number of blocks is a multiple
 * of a group's and not zero: blocks of zeros in front change nothing.
 */
export function ghashFunction(): WasmFunction {
  const ghash = new WasmFunction("ghash", 4);
  const [tables, from, to, sum] = [0, 1, 2, 3];
  const [hash, low, high, first, second] = ghash.locals("v128", 5) as [
    number,
    number,
    number,
    number,
    number,
  ];
  const blocks = Array.from({ length: groupBlocks }, (): Nibbles => {
    const [one, other] = ghash.locals("v128", 2) as [number, number];
    return { high: one, low: other };
  });
  const productsOfGroup = (byte: number, half: number): Code =>
    blocks
      .map((block, at) => products(block, get(tables), at * powerTablesBytes + byte * byteTablesBytes, half))
      .reduce((one, other) => vector.xor(one, other));
  const multiply: Code = [
    ...set(low, zero),
    ...set(high, zero),
    ...Array.from({ length: blockBytes }, (_, at) => blockBytes - 1 - at).flatMap((byte) => [
      ...set(low, vector.xor(get(low), productsOfGroup(byte, 1))),
      ...set(high, moveBytes(get(low), get(high))),
      ...set(low, vector.xor(moveBytes(zero, get(low)), productsOfGroup(byte, 0))),
    ]),
  ];
  /** Adds the high half, multiplied by what x^128 is, to the low half; its last byte exceeds it once more. */
  const fold = (excess: Code): Code => [
    ...setNibbles(blocks[0]!, excess),
    ...set(first, products(blocks[0]!, get(tables), reductionAt, 0)),
    ...set(second, products(blocks[0]!, get(tables), reductionAt, 1)),
    ...set(low, vector.xor(get(low), vector.xor(get(first), moveBytes(zero, get(second))))),
  ];
  ghash.add(
    set(hash, zero),
    repeat(
      [
        ...blocks.flatMap((block, at) => {
          const loaded = vector.load(get(from), at * blockBytes);
          return setNibbles(block, at === 0 ? vector.xor(get(hash), loaded) : loaded);
        }),
        ...multiply,
        ...fold(get(high)),
        ...fold(moveBytes(get(second), zero)),
        ...set(hash, get(low)),
        ...set(from, i32.add(get(from), i32.constant(groupBlocks * blockBytes))),
      ],
      i32.lessThan(get(from), get(to)),
    ),
    vector.store(get(sum), vector.xor(vector.load(get(sum)), get(hash))),
  );
  return ghash;
}

/** Writes the tables of a hash key; `multiply` returns the product of a block and the hash key. */
export function writeTables(tables: Buffer, hashKey: Uint8Array, multiply: (block: Buffer) => Buffer): void {
  writeByteTables(tables, reductionAt, reductionByte);
  // The last block of a group is multiplied by the key itself; with that, the higher powers are computed.
  let power: Buffer = Buffer.from(hashKey);
  for (let block = groupBlocks - 1; block >= 0; block--) {
    if (block < groupBlocks - 1) power = multiply(power);
    for (const [at, byte] of power.entries())
      writeByteTables(tables, block * powerTablesBytes + at * byteTablesBytes, byte);
  }
}

function writeByteTables(tables: Buffer, at: number, byte: number): void {
  for (let entry = 0; entry < blockBytes; entry++)
    for (const nibble of [0, 1]) {
      let product = 0;
      for (let bit = 0; bit < 4; bit++)
        if ((entry >> (3 - bit)) & 1) product ^= (byte << 8) >> (nibble * 4 + bit);
      tables[at + 2 * nibble * blockBytes + entry] = product >> 8;
      tables[at + (2 * nibble + 1) * blockBytes + entry] = product & 0xff;
    }
}
