// XSalsa20: the stream cipher of secretbox, with a nonce long enough to be chosen at random. It works on
// 32-bit words in the byte order of the machine, which is little-endian on all supported platforms.

/** "expand 32-byte k" */
const constants = [0x61707865, 0x3320646e, 0x79622d32, 0x6b206574] as const;

/**
 * Adds one block of the key stream to 16 words. Twenty rounds, alternating columns and rows. The words are
 * variables rather than array elements, so that they stay in registers: it is several times faster.
 */
function addBlock(state: Uint32Array, out: Uint32Array, at: number): void {
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
  out[at]! ^= x0 + state[0]!;
  out[at + 1]! ^= x1 + state[1]!;
  out[at + 2]! ^= x2 + state[2]!;
  out[at + 3]! ^= x3 + state[3]!;
  out[at + 4]! ^= x4 + state[4]!;
  out[at + 5]! ^= x5 + state[5]!;
  out[at + 6]! ^= x6 + state[6]!;
  out[at + 7]! ^= x7 + state[7]!;
  out[at + 8]! ^= x8 + state[8]!;
  out[at + 9]! ^= x9 + state[9]!;
  out[at + 10]! ^= x10 + state[10]!;
  out[at + 11]! ^= x11 + state[11]!;
  out[at + 12]! ^= x12 + state[12]!;
  out[at + 13]! ^= x13 + state[13]!;
  out[at + 14]! ^= x14 + state[14]!;
  out[at + 15]! ^= x15 + state[15]!;
}

/** Sets up the cipher state: `key` has eight words, `input` (nonce and counter) four. */
function setState(state: Uint32Array, key: Uint32Array, input: Uint32Array): void {
  state[0] = constants[0];
  state[5] = constants[1];
  state[10] = constants[2];
  state[15] = constants[3];
  for (let at = 0; at < 4; at++) {
    state[1 + at] = key[at]!;
    state[6 + at] = input[at]!;
    state[11 + at] = key[4 + at]!;
  }
}

// Scratch buffers. Cleared at the end of xsalsa20, so that no secrets outlive a call.
const state = new Uint32Array(16);
const derived = new Uint32Array(16);
const subKey = new Uint32Array(8);
const input = new Uint32Array(4);
const derivedWords = [0, 5, 10, 15, 6, 7, 8, 9] as const;

/**
 * Adds the key stream of a key of 8 words and a nonce of 6 to `blocks` blocks of 16 words, in place. The
 * inner cipher's key is derived from the key and the first four words of the nonce (HSalsa20).
 */
export function xsalsa20(key: Uint32Array, nonce: Uint32Array, words: Uint32Array, blocks: number): void {
  setState(state, key, nonce);
  // HSalsa20 omits the last addition; subtracting the state again is equivalent.
  derived.fill(0);
  addBlock(state, derived, 0);
  for (let at = 0; at < 8; at++) {
    const word = derivedWords[at]!;
    subKey[at] = derived[word]! - state[word]!;
  }
  input[0] = nonce[4]!;
  input[1] = nonce[5]!;
  setState(state, subKey, input);
  for (let block = 0; block < blocks; block++) {
    state[8] = block;
    addBlock(state, words, block * 16);
  }
  state.fill(0);
  derived.fill(0);
  subKey.fill(0);
}
