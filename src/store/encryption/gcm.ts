// Seals values with AES-GCM, several at a time: one cipher object of OpenSSL encrypts the counters of all of them, and
// the rest is in WebAssembly (docs/adr/0018-aes-gcm-in-batches.md). A sealed value is: nonce (12), ciphertext, tag (16).
//
//   memory   tables | tag |   blocks of zeros   name   ciphertext   lengths   |   plain value
//                             └ what is hashed, a multiple of four blocks
import { createCipheriv } from "node:crypto";
import { blockBytes, ghashFunction, groupBlocks, tablesBytes, writeTables } from "./ghash.ts";
import type { ValueToSeal } from "./local-provider.ts";
import { randomNonce } from "./nonce.ts";
import {
  type Code,
  type WasmMemory,
  WasmFunction,
  compileWasm,
  get,
  i32,
  repeat,
  set,
  vector,
} from "./wasm.ts";

export const nonceBytes = 12;
export const tagBytes = 16;
/** Largest value, with its name, that is sealed here; OpenSSL's own GCM is faster for larger ones. */
export const maxSealedHere = 8 * 1024;

interface Exports {
  readonly memory: WasmMemory;
  readonly addStream: (to: number, end: number, value: number) => void;
  readonly ghash: (tables: number, from: number, to: number, sum: number) => void;
}

const tablesAt = 0;
const tagAt = tablesBytes;
const hashedAt = tagAt + blockBytes;
/** Besides the name and the value, each padded, up to three blocks of zeros and that of the lengths are hashed. */
const plainAt = hashedAt + maxSealedHere + (2 + groupBlocks) * blockBytes;
/** The counter blocks encrypted at once: those of the largest value, or of several smaller ones. */
const maxCounters = 4096;
const wordsPerBlock = blockBytes / 4;

/** `addStream(to, end, value)` adds the blocks of a value to those of the key stream. */
function addStreamFunction(): WasmFunction {
  const addStream = new WasmFunction("addStream", 3);
  const [to, end, value] = [0, 1, 2];
  const next = (address: number): Code => set(address, i32.add(get(address), i32.constant(blockBytes)));
  addStream.add(
    repeat(
      [
        ...vector.store(get(to), vector.xor(vector.load(get(to)), vector.load(get(value)))),
        ...next(value),
        ...next(to),
      ],
      i32.lessThan(get(to), get(end)),
    ),
  );
  return addStream;
}

let instantiate: (() => Exports) | undefined;

/** Returns the function that seals values with this key. They and their names have at most `maxSealedHere` bytes. */
export function gcmSealer(secret: Uint8Array): (values: readonly ValueToSeal[]) => void {
  instantiate ??= compileWasm<Exports>([addStreamFunction(), ghashFunction()], 1);
  const { memory, addStream, ghash } = instantiate();
  const bytes = Buffer.from(memory.buffer);
  const cipher = createCipheriv(`aes-${secret.length * 8}-ecb`, secret, null).setAutoPadding(false);
  const counters = Buffer.alloc(maxCounters * blockBytes);
  const counterWords = new Uint32Array(counters.buffer, counters.byteOffset, maxCounters * wordsPerBlock);

  const multiply = (block: Buffer): Buffer => {
    bytes.fill(0, tagAt, hashedAt + (groupBlocks - 1) * blockBytes);
    bytes.set(block, hashedAt + (groupBlocks - 1) * blockBytes);
    ghash(tablesAt, hashedAt, hashedAt + groupBlocks * blockBytes, tagAt);
    return Buffer.from(bytes.subarray(tagAt, tagAt + tagBytes));
  };
  writeTables(
    bytes.subarray(tablesAt, tablesAt + tablesBytes),
    cipher.update(Buffer.alloc(blockBytes)),
    multiply,
  );

  /** Writes the counter blocks of a value: the first is for the tag, the others for the key stream. */
  function writeCounters(first: number, count: number): void {
    const nonce = randomNonce(nonceBytes);
    const [one, two, three] = [nonce.readUInt32LE(0), nonce.readUInt32LE(4), nonce.readUInt32LE(8)];
    let at = first * wordsPerBlock;
    for (let counter = 1; counter <= count; counter++) {
      counterWords[at++] = one;
      counterWords[at++] = two;
      counterWords[at++] = three;
      counterWords[at++] = bigEndian[counter]!;
    }
  }

  /** Seals a value with the key stream at `start`. */
  function seal({ name, value, sealed }: ValueToSeal, stream: Buffer, start: number): void {
    const { length } = value;
    const nameBytes = Buffer.byteLength(name);
    const [nameBlocks, valueBlocks] = [blocksOf(nameBytes), blocksOf(length)];
    const blocks = roundUp(nameBlocks + valueBlocks + 1, groupBlocks);
    const end = hashedAt + blocks * blockBytes;
    const lengthsAt = end - blockBytes;
    const valueAt = lengthsAt - valueBlocks * blockBytes;
    bytes.fill(0, hashedAt, end);
    bytes.write(name, valueAt - nameBlocks * blockBytes);
    bytes.writeUInt32BE(nameBytes * 8, lengthsAt + 4);
    bytes.writeUInt32BE(length * 8, lengthsAt + 12);
    if (length > 0) {
      stream.copy(bytes, valueAt, start + blockBytes, start + blockBytes + length);
      bytes.set(value, plainAt);
      bytes.fill(0, plainAt + length, plainAt + valueBlocks * blockBytes);
      addStream(valueAt, lengthsAt, plainAt);
    }
    stream.copy(bytes, tagAt, start, start + blockBytes);
    ghash(tablesAt, hashedAt, end, tagAt);
    counters.copy(sealed, 0, start, start + nonceBytes);
    bytes.copy(sealed, nonceBytes, valueAt, valueAt + length);
    bytes.copy(sealed, nonceBytes + length, tagAt, tagAt + tagBytes);
  }

  /** Seals values whose counters fit in one call. */
  function sealGroup(values: readonly ValueToSeal[], counted: number): void {
    const stream = cipher.update(counters.subarray(0, counted * blockBytes));
    let start = 0;
    let longest = 0;
    for (const value of values) {
      seal(value, stream, start);
      start += countersOf(value) * blockBytes;
      longest = Math.max(longest, value.value.length);
    }
    // Neither plain values nor key streams outlive a call.
    bytes.fill(0, plainAt, plainAt + longest);
    stream.fill(0);
  }

  return (values) => {
    let group: ValueToSeal[] = [];
    let counted = 0;
    for (const value of values) {
      const count = countersOf(value);
      if (counted + count > maxCounters) {
        sealGroup(group, counted);
        group = [];
        counted = 0;
      }
      writeCounters(counted, count);
      counted += count;
      group.push(value);
    }
    if (group.length > 0) sealGroup(group, counted);
  };
}

const roundUp = (value: number, multiple: number): number => Math.ceil(value / multiple) * multiple;
const blocksOf = (length: number): number => Math.ceil(length / blockBytes);
const countersOf = ({ value }: ValueToSeal): number => 1 + blocksOf(value.length);

/** Counters as words whose bytes are in the opposite order of the machine's, which is little-endian. */
const bigEndian = Uint32Array.from({ length: 2 + blocksOf(maxSealedHere) }, (_, counter) =>
  Buffer.from(Uint32Array.of(counter).buffer).readUInt32BE(),
);
