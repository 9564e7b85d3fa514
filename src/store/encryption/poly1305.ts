// Poly1305 (RFC 8439 §2.5): a one-time authenticator. Numbers are kept as six limbs of 22 bits in doubles: sums of
// their products stay exact. Limbs are variables rather than items of an array, which is several times faster.

const mask = 0x3fffff;
const radix = 0x400000;

/** The 16-byte tag of a message under a 32-byte key that is used once. */
export function poly1305(message: Uint8Array, key: Uint8Array): Buffer {
  const [r0, r1, r2, r3, r4, r5] = limbsOf(clamped(key));
  // 2^132 is 20 modulo 2^130 - 5: what overflows comes back twenty times.
  const [s1, s2, s3, s4, s5] = [20 * r1, 20 * r2, 20 * r3, 20 * r4, 20 * r5];
  let [h0, h1, h2, h3, h4, h5] = [0, 0, 0, 0, 0, 0];
  const whole = message.length - (message.length % 16);
  const last = Buffer.alloc(16);
  last.set(message.subarray(whole));
  if (whole < message.length) last[message.length - whole] = 1;
  for (let at = 0; at < message.length; at += 16) {
    const [bytes, from, high] = at < whole ? [message, at, 1] : [last, 0, 0];
    const w0 = word(bytes, from);
    const w1 = word(bytes, from + 4);
    const w2 = word(bytes, from + 8);
    const w3 = word(bytes, from + 12);
    h0 += w0 & mask;
    h1 += ((w0 >>> 22) | (w1 << 10)) & mask;
    h2 += ((w1 >>> 12) | (w2 << 20)) & mask;
    h3 += (w2 >>> 2) & mask;
    h4 += ((w2 >>> 24) | (w3 << 8)) & mask;
    h5 += (w3 >>> 14) | (high << 18);
    const d0 = h0 * r0 + h1 * s5 + h2 * s4 + h3 * s3 + h4 * s2 + h5 * s1;
    const d1 = h0 * r1 + h1 * r0 + h2 * s5 + h3 * s4 + h4 * s3 + h5 * s2;
    const d2 = h0 * r2 + h1 * r1 + h2 * r0 + h3 * s5 + h4 * s4 + h5 * s3;
    const d3 = h0 * r3 + h1 * r2 + h2 * r1 + h3 * r0 + h4 * s5 + h5 * s4;
    const d4 = h0 * r4 + h1 * r3 + h2 * r2 + h3 * r1 + h4 * r0 + h5 * s5;
    const d5 = h0 * r5 + h1 * r4 + h2 * r3 + h3 * r2 + h4 * r1 + h5 * r0;
    let over = Math.floor(d0 / radix);
    h0 = d0 - over * radix;
    const e1 = d1 + over;
    over = Math.floor(e1 / radix);
    h1 = e1 - over * radix;
    const e2 = d2 + over;
    over = Math.floor(e2 / radix);
    h2 = e2 - over * radix;
    const e3 = d3 + over;
    over = Math.floor(e3 / radix);
    h3 = e3 - over * radix;
    const e4 = d4 + over;
    over = Math.floor(e4 / radix);
    h4 = e4 - over * radix;
    const e5 = d5 + over;
    over = Math.floor(e5 / radix);
    h5 = e5 - over * radix;
    h0 += over * 20;
    over = Math.floor(h0 / radix);
    h0 -= over * radix;
    h1 += over;
  }
  return finish([h0, h1, h2, h3, h4, h5], key.subarray(16, 32));
}

const word = (bytes: Uint8Array, at: number): number =>
  bytes[at]! | (bytes[at + 1]! << 8) | (bytes[at + 2]! << 16) | (bytes[at + 3]! << 24);

type Limbs = readonly [number, number, number, number, number, number];

/** 16 bytes as limbs, the least first. */
function limbsOf(bytes: Uint8Array): Limbs {
  const [w0, w1, w2, w3] = [word(bytes, 0), word(bytes, 4), word(bytes, 8), word(bytes, 12)];
  return [
    w0 & mask,
    ((w0 >>> 22) | (w1 << 10)) & mask,
    ((w1 >>> 12) | (w2 << 20)) & mask,
    (w2 >>> 2) & mask,
    ((w2 >>> 24) | (w3 << 8)) & mask,
    w3 >>> 14,
  ];
}

function clamped(key: Uint8Array): Buffer {
  const r = Buffer.from(key.subarray(0, 16));
  for (const at of [3, 7, 11, 15]) r[at]! &= 15;
  for (const at of [4, 8, 12]) r[at]! &= 252;
  return r;
}

function finish(h: Limbs, pad: Uint8Array): Buffer {
  let value = 0n;
  for (const limb of h.toReversed()) value = value * BigInt(radix) + BigInt(limb);
  value %= (1n << 130n) - 5n;
  const low = Buffer.alloc(16);
  low.set(pad);
  const sum = value + low.readBigUInt64LE(0) + (low.readBigUInt64LE(8) << 64n);
  const tag = Buffer.alloc(16);
  tag.writeBigUInt64LE(BigInt.asUintN(64, sum), 0);
  tag.writeBigUInt64LE(BigInt.asUintN(64, sum >> 64n), 8);
  return tag;
}
