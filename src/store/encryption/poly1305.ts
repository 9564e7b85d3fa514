// Poly1305 (RFC 8439 §2.5): a one-time authenticator, in constant time. Numbers are five limbs of 26 bits, so that
// sums of their products fit in 64 bits.
import { type Code, WasmFunction, get, i32, i64, repeat, select, set, when } from "./wasm.ts";

const limbBits = 26n;
const limbMask = i64.constant((1n << limbBits) - 1n);
const blockBytes = 16;
const wordBytes = 8;

/** Splits the 128 bits of two words into limbs. */
const limbsOf = (low: Code, high: Code): Code[] => [
  i64.and(low, limbMask),
  i64.and(i64.shiftRight(low, limbBits), limbMask),
  i64.and(i64.or(i64.shiftRight(low, 2n * limbBits), i64.shiftLeft(high, 12n)), limbMask),
  i64.and(i64.shiftRight(high, 14n), limbMask),
  i64.shiftRight(high, 40n),
];

/**
 * `poly1305(key, from, whole, to, tag)` stores the tag of a message under a one-time key of 32 bytes. The whole
 * blocks of the message end at `whole`; the block from there on, if there is one, is padded with a one and zeros.
 */
export function poly1305Function(): WasmFunction {
  const poly1305 = new WasmFunction("poly1305", 5);
  const [key, from, whole, to, tag] = [0, 1, 2, 3, 4];
  const [low, high, carried] = poly1305.locals("i64", 3) as [number, number, number];
  const sum = poly1305.locals("i64", 5);
  const factor = poly1305.locals("i64", 5);
  /** Five times the factor: 2^130 is 5 modulo 2^130 - 5, so what overflows is multiplied by it. */
  const folded = poly1305.locals("i64", 5);
  const products = poly1305.locals("i64", 5);

  const clamped = (at: number, mask: bigint): Code => i64.and(i64.load(get(key), at), i64.constant(mask));
  const productOf = (limb: number): Code =>
    sum
      .map((local, at) =>
        i64.multiply(get(local), get(at <= limb ? factor[limb - at]! : folded[limb - at + 5]!)),
      )
      .reduce((one, other) => i64.add(one, other));
  /** Moves what exceeds a limb to the next one; what exceeds the last is folded into the first. */
  const carry = (limbs: readonly number[], limb: number): Code => {
    const over = i64.shiftRight(get(limbs[limb]!), limbBits);
    return [
      ...set(carried, limb < 4 ? over : i64.multiply(over, i64.constant(5n))),
      ...set(limbs[limb]!, i64.and(get(limbs[limb]!), limbMask)),
      ...set(limbs[(limb + 1) % 5]!, i64.add(get(limbs[(limb + 1) % 5]!), get(carried))),
    ];
  };
  const addBlock: Code = [
    ...set(low, i64.load(get(from))),
    ...set(high, i64.load(get(from), wordBytes)),
    ...limbsOf(get(low), get(high)).flatMap((limb, at) => set(sum[at]!, i64.add(get(sum[at]!), limb))),
    // The one that terminates a whole block.
    ...set(
      sum[4]!,
      i64.add(
        get(sum[4]!),
        select(i64.constant(1n << 24n), i64.constant(0n), i32.lessThan(get(from), get(whole))),
      ),
    ),
    ...products.flatMap((local, limb) => set(local, productOf(limb))),
    ...[0, 1, 2, 3, 4, 0].flatMap((limb) => carry(products, limb)),
    ...sum.flatMap((local, at) => set(local, get(products[at]!))),
    ...set(from, i32.add(get(from), i32.constant(blockBytes))),
  ];
  /** The sum plus 5 reaches 2^130 if the sum is at least the modulus, and is then the result without that bit. */
  const reduce: Code = [
    ...[1, 2, 3, 4, 0, 1, 2, 3, 4, 0].flatMap((limb) => carry(sum, limb)),
    ...sum.flatMap((local, at) => set(products[at]!, get(local))),
    ...set(products[0]!, i64.add(get(products[0]!), i64.constant(5n))),
    ...[0, 1, 2, 3].flatMap((limb) => carry(products, limb)),
    // All ones if it reaches 2^130.
    ...set(carried, i64.subtract(i64.constant(0n), i64.shiftRight(get(products[4]!), limbBits))),
    ...set(products[4]!, i64.and(get(products[4]!), limbMask)),
    ...sum.flatMap((local, at) =>
      set(local, i64.xor(get(local), i64.and(get(carried), i64.xor(get(local), get(products[at]!))))),
    ),
  ];
  const [s0, s1, s2, s3, s4] = sum.map(get) as [Code, Code, Code, Code, Code];
  poly1305.add(
    set(low, clamped(0, 0x0ffffffc0fffffffn)),
    set(high, clamped(wordBytes, 0x0ffffffc0ffffffcn)),
    ...limbsOf(get(low), get(high)).map((limb, at) => set(factor[at]!, limb)),
    ...folded.map((local, at) => set(local, i64.multiply(get(factor[at]!), i64.constant(5n)))),
    ...sum.map((local) => set(local, i64.constant(0n))),
    when(i32.lessThan(get(from), get(to)), repeat(addBlock, i32.lessThan(get(from), get(to)))),
    reduce,
    // The second half of the key is added modulo 2^128.
    set(low, i64.or(i64.or(s0, i64.shiftLeft(s1, limbBits)), i64.shiftLeft(s2, 2n * limbBits))),
    set(high, i64.or(i64.or(i64.shiftRight(s2, 12n), i64.shiftLeft(s3, 14n)), i64.shiftLeft(s4, 40n))),
    set(carried, i64.add(get(low), i64.load(get(key), 2 * wordBytes))),
    i64.store(get(tag), get(carried)),
    i64.store(
      get(tag),
      i64.add(
        i64.add(get(high), i64.load(get(key), 3 * wordBytes)),
        i64.extend(i64.lessThan(get(carried), get(low))),
      ),
      wordBytes,
    ),
  );
  return poly1305;
}
