// XSalsa20: the stream cipher of secretbox, with a nonce long enough to be chosen at random.

/** "expand 32-byte k" */
const constants = [0x61707865, 0x3320646e, 0x79622d32, 0x6b206574] as const;

const rotate = (value: number, bits: number): number => (value << bits) | (value >>> (32 - bits));

/** Places of the words that each quarter round mixes: columns, then rows. */
const rounds: readonly (readonly [number, number, number, number])[] = [
  [0, 4, 8, 12],
  [5, 9, 13, 1],
  [10, 14, 2, 6],
  [15, 3, 7, 11],
  [0, 1, 2, 3],
  [5, 6, 7, 4],
  [10, 11, 8, 9],
  [15, 12, 13, 14],
];

function mixed(state: Uint32Array): Uint32Array {
  const x = Uint32Array.from(state);
  for (let round = 0; round < 10; round++) {
    for (const [a, b, c, d] of rounds) {
      x[b]! ^= rotate((x[a]! + x[d]!) | 0, 7);
      x[c]! ^= rotate((x[b]! + x[a]!) | 0, 9);
      x[d]! ^= rotate((x[c]! + x[b]!) | 0, 13);
      x[a]! ^= rotate((x[d]! + x[c]!) | 0, 18);
    }
  }
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
  const x = mixed(stateOf(key, nonce));
  const out = Buffer.alloc(32);
  [0, 5, 10, 15, 6, 7, 8, 9].forEach((word, at) => out.writeUInt32LE(x[word]!, 4 * at));
  return out;
}

/** `length` bytes of the key stream for a 32-byte key and a 24-byte nonce. */
export function xsalsa20(key: Buffer, nonce: Buffer, length: number): Buffer {
  const inner = subKey(key, nonce);
  const input = Buffer.alloc(16);
  nonce.copy(input, 0, 16, 24);
  const out = Buffer.allocUnsafe(Math.ceil(length / 64) * 64);
  for (let block = 0; block * 64 < length; block++) {
    input.writeUInt32LE(block, 8);
    const state = stateOf(inner, input);
    const x = mixed(state);
    for (let word = 0; word < 16; word++)
      out.writeUInt32LE((x[word]! + state[word]!) >>> 0, block * 64 + word * 4);
  }
  return out.subarray(0, length);
}
