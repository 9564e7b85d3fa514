// Poly1305 (RFC 8439 §2.5): a one-time authenticator. Numbers are kept as six limbs of 22 bits in doubles, so
// that sums of their products stay exact. Limbs are variables rather than array elements, which is several
// times faster.

const mask = 0x3fffff;
const radix = 0x400000;
const inverse = 1 / radix;
const word32 = 0x100000000;

/**
 * Returns the tag, as 4 words, of `length` bytes that begin at the word `from`, under a one-time key of 8
 * words. Bytes after the message, up to the end of its last 16-byte block, must be zero.
 */
export function poly1305(words: Uint32Array, from: number, length: number, key: Uint32Array): Uint32Array {
  const [k0, k1, k2, k3] = [
    key[0]! & 0x0fffffff,
    key[1]! & 0x0ffffffc,
    key[2]! & 0x0ffffffc,
    key[3]! & 0x0ffffffc,
  ];
  const r0 = k0 & mask;
  const r1 = ((k0 >>> 22) | (k1 << 10)) & mask;
  const r2 = ((k1 >>> 12) | (k2 << 20)) & mask;
  const r3 = (k2 >>> 2) & mask;
  const r4 = ((k2 >>> 24) | (k3 << 8)) & mask;
  const r5 = k3 >>> 14;
  // 2^132 is 20 modulo 2^130 - 5: the overflow is multiplied by 20 and added back.
  const [s1, s2, s3, s4, s5] = [20 * r1, 20 * r2, 20 * r3, 20 * r4, 20 * r5];
  let [h0, h1, h2, h3, h4, h5] = [0, 0, 0, 0, 0, 0];
  const last = from + ((length >>> 4) << 2);
  const end = from + ((length + 3) >>> 2);
  for (let at = from; at < end; at += 4) {
    let high = 1 << 18;
    let w0 = words[at]!;
    let w1 = words[at + 1]!;
    let w2 = words[at + 2]!;
    let w3 = words[at + 3]!;
    if (at === last) {
      // A partial block is terminated by an extra 1 bit.
      const rest = length & 15;
      const one = 1 << ((rest & 3) * 8);
      if (rest < 4) w0 |= one;
      else if (rest < 8) w1 |= one;
      else if (rest < 12) w2 |= one;
      else w3 |= one;
      high = 0;
    }
    h0 += w0 & mask;
    h1 += ((w0 >>> 22) | (w1 << 10)) & mask;
    h2 += ((w1 >>> 12) | (w2 << 20)) & mask;
    h3 += (w2 >>> 2) & mask;
    h4 += ((w2 >>> 24) | (w3 << 8)) & mask;
    h5 += (w3 >>> 14) | high;
    const d0 = h0 * r0 + h1 * s5 + h2 * s4 + h3 * s3 + h4 * s2 + h5 * s1;
    const d1 = h0 * r1 + h1 * r0 + h2 * s5 + h3 * s4 + h4 * s3 + h5 * s2;
    const d2 = h0 * r2 + h1 * r1 + h2 * r0 + h3 * s5 + h4 * s4 + h5 * s3;
    const d3 = h0 * r3 + h1 * r2 + h2 * r1 + h3 * r0 + h4 * s5 + h5 * s4;
    const d4 = h0 * r4 + h1 * r3 + h2 * r2 + h3 * r1 + h4 * r0 + h5 * s5;
    const d5 = h0 * r5 + h1 * r4 + h2 * r3 + h3 * r2 + h4 * r1 + h5 * r0;
    let over = Math.floor(d0 * inverse);
    h0 = d0 - over * radix;
    const e1 = d1 + over;
    over = Math.floor(e1 * inverse);
    h1 = e1 - over * radix;
    const e2 = d2 + over;
    over = Math.floor(e2 * inverse);
    h2 = e2 - over * radix;
    const e3 = d3 + over;
    over = Math.floor(e3 * inverse);
    h3 = e3 - over * radix;
    const e4 = d4 + over;
    over = Math.floor(e4 * inverse);
    h4 = e4 - over * radix;
    const e5 = d5 + over;
    over = Math.floor(e5 * inverse);
    h5 = e5 - over * radix;
    h0 += over * 20;
    over = Math.floor(h0 * inverse);
    h0 -= over * radix;
    h1 += over;
  }
  return finish(reduced([h0, h1, h2, h3, h4, h5]), key);
}

type Limbs = [number, number, number, number, number, number];

/** The sixth limb of a number below 2^130 has 20 bits. */
const highMask = 0xfffff;

/** Carries through all limbs; the part above 2^130 is multiplied by five and added back. */
function carry(h: Limbs): Limbs {
  for (let at = 0; at < 5; at++) {
    h[at + 1]! += h[at]! >>> 22;
    h[at]! &= mask;
  }
  h[0] += 5 * (h[5] >>> 20);
  h[5] &= highMask;
  return h;
}

/** Returns the number modulo 2^130 - 5, in constant time. */
function reduced(h: Limbs): Limbs {
  const low = carry(carry(carry(h)));
  const above: Limbs = [...low];
  above[0] += 5;
  for (let at = 0; at < 5; at++) {
    above[at + 1]! += above[at]! >>> 22;
    above[at]! &= mask;
  }
  // All ones if the number plus five reaches 2^130.
  const reaches = -(above[5] >>> 20);
  above[5] &= highMask;
  for (let at = 0; at < 6; at++) low[at] = (low[at]! & ~reaches) | (above[at]! & reaches);
  return low;
}

/** Adds the second half of the key, modulo 2^128. */
function finish([h0, h1, h2, h3, h4, h5]: Limbs, key: Uint32Array): Uint32Array {
  const tag = Uint32Array.of(
    h0 | (h1 << 22),
    (h1 >>> 10) | (h2 << 12),
    (h2 >>> 20) | (h3 << 2) | (h4 << 24),
    (h4 >>> 8) | (h5 << 14),
  );
  let sum = 0;
  for (let at = 0; at < 4; at++) {
    sum = tag[at]! + key[4 + at]! + Math.floor(sum / word32);
    tag[at] = sum;
  }
  return tag;
}
