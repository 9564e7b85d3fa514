// XSalsa20: the stream cipher of secretbox, with a nonce long enough to be chosen at random.

/** "expand 32-byte k" */
const constants = [0x61707865, 0x3320646e, 0x79622d32, 0x6b206574] as const;

/**
 * Twenty rounds, columns and rows in turn. The words are variables rather than items of an array, so that they stay
 * in registers: it is several times faster.
 */
function mixed(state: Uint32Array, x: Uint32Array): Uint32Array {
  let x0 = state[0]!;
  let x1 = state[1]!;
  let x2 = state[2]!;
  let x3 = state[3]!;
  let x4 = state[4]!;
  let x5 = state[5]!;
  let x6 = state[6]!;
  let x7 = state[7]!;
  let x8 = state[8]!;
  let x9 = state[9]!;
  let x10 = state[10]!;
  let x11 = state[11]!;
  let x12 = state[12]!;
  let x13 = state[13]!;
  let x14 = state[14]!;
  let x15 = state[15]!;
  let t = 0;
  for (let round = 0; round < 10; round++) {
    t = (x0 + x12) | 0;
    x4 ^= (t << 7) | (t >>> 25);
    t = (x4 + x0) | 0;
    x8 ^= (t << 9) | (t >>> 23);
    t = (x8 + x4) | 0;
    x12 ^= (t << 13) | (t >>> 19);
    t = (x12 + x8) | 0;
    x0 ^= (t << 18) | (t >>> 14);
    t = (x5 + x1) | 0;
    x9 ^= (t << 7) | (t >>> 25);
    t = (x9 + x5) | 0;
    x13 ^= (t << 9) | (t >>> 23);
    t = (x13 + x9) | 0;
    x1 ^= (t << 13) | (t >>> 19);
    t = (x1 + x13) | 0;
    x5 ^= (t << 18) | (t >>> 14);
    t = (x10 + x6) | 0;
    x14 ^= (t << 7) | (t >>> 25);
    t = (x14 + x10) | 0;
    x2 ^= (t << 9) | (t >>> 23);
    t = (x2 + x14) | 0;
    x6 ^= (t << 13) | (t >>> 19);
    t = (x6 + x2) | 0;
    x10 ^= (t << 18) | (t >>> 14);
    t = (x15 + x11) | 0;
    x3 ^= (t << 7) | (t >>> 25);
    t = (x3 + x15) | 0;
    x7 ^= (t << 9) | (t >>> 23);
    t = (x7 + x3) | 0;
    x11 ^= (t << 13) | (t >>> 19);
    t = (x11 + x7) | 0;
    x15 ^= (t << 18) | (t >>> 14);
    t = (x0 + x3) | 0;
    x1 ^= (t << 7) | (t >>> 25);
    t = (x1 + x0) | 0;
    x2 ^= (t << 9) | (t >>> 23);
    t = (x2 + x1) | 0;
    x3 ^= (t << 13) | (t >>> 19);
    t = (x3 + x2) | 0;
    x0 ^= (t << 18) | (t >>> 14);
    t = (x5 + x4) | 0;
    x6 ^= (t << 7) | (t >>> 25);
    t = (x6 + x5) | 0;
    x7 ^= (t << 9) | (t >>> 23);
    t = (x7 + x6) | 0;
    x4 ^= (t << 13) | (t >>> 19);
    t = (x4 + x7) | 0;
    x5 ^= (t << 18) | (t >>> 14);
    t = (x10 + x9) | 0;
    x11 ^= (t << 7) | (t >>> 25);
    t = (x11 + x10) | 0;
    x8 ^= (t << 9) | (t >>> 23);
    t = (x8 + x11) | 0;
    x9 ^= (t << 13) | (t >>> 19);
    t = (x9 + x8) | 0;
    x10 ^= (t << 18) | (t >>> 14);
    t = (x15 + x14) | 0;
    x12 ^= (t << 7) | (t >>> 25);
    t = (x12 + x15) | 0;
    x13 ^= (t << 9) | (t >>> 23);
    t = (x13 + x12) | 0;
    x14 ^= (t << 13) | (t >>> 19);
    t = (x14 + x13) | 0;
    x15 ^= (t << 18) | (t >>> 14);
  }
  x[0] = x0;
  x[1] = x1;
  x[2] = x2;
  x[3] = x3;
  x[4] = x4;
  x[5] = x5;
  x[6] = x6;
  x[7] = x7;
  x[8] = x8;
  x[9] = x9;
  x[10] = x10;
  x[11] = x11;
  x[12] = x12;
  x[13] = x13;
  x[14] = x14;
  x[15] = x15;
  return x;
}

function stateOf(key: Buffer, input: Buffer): Uint32Array {
  const k = (at: number): number => key.readUInt32LE(4 * at);
  const n = (at: number): number => input.readUInt32LE(4 * at);
  const [c0, c1, c2, c3] = constants;
  return Uint32Array.of(
    c0,
    k(0),
    k(1),
    k(2),
    k(3),
    c1,
    n(0),
    n(1),
    n(2),
    n(3),
    c2,
    k(4),
    k(5),
    k(6),
    k(7),
    c3,
  );
}

/** The key of the inner cipher, from the first 16 bytes of the nonce (HSalsa20). */
function subKey(key: Buffer, nonce: Buffer): Buffer {
  const x = mixed(stateOf(key, nonce), new Uint32Array(16));
  const out = Buffer.alloc(32);
  [0, 5, 10, 15, 6, 7, 8, 9].forEach((word, at) => out.writeUInt32LE(x[word]!, 4 * at));
  return out;
}

/** `length` bytes of the key stream for a 32-byte key and a 24-byte nonce. */
export function xsalsa20(key: Buffer, nonce: Buffer, length: number): Buffer {
  const inner = subKey(key, nonce);
  const input = Buffer.alloc(16);
  nonce.copy(input, 0, 16, 24);
  const state = stateOf(inner, input);
  const x = new Uint32Array(16);
  const out = Buffer.allocUnsafe(Math.ceil(length / 64) * 64);
  for (let block = 0, at = 0; at < length; block++) {
    state[8] = block;
    mixed(state, x);
    for (let word = 0; word < 16; word++) {
      const sum = x[word]! + state[word]!;
      out[at++] = sum;
      out[at++] = sum >>> 8;
      out[at++] = sum >>> 16;
      out[at++] = sum >>> 24;
    }
  }
  return out.subarray(0, length);
}
