// Poly1305 (RFC 8439 §2.5): a one-time authenticator. Numbers are kept as ten limbs of 13 bits, so that
// products stay exact.

const limbs = 10;
const mask = 0x1fff;

/** The 16-byte tag of a message under a 32-byte key that is used once. */
export function poly1305(message: Uint8Array, key: Uint8Array): Buffer {
  const r = split(clamped(key));
  const h = new Float64Array(limbs);
  const product = new Float64Array(limbs);
  const block = Buffer.alloc(17);
  for (let at = 0; at < message.length; at += 16) {
    const size = Math.min(16, message.length - at);
    block.fill(0);
    block.set(message.subarray(at, at + size));
    block[size] = 1;
    addBlock(h, block);
    multiply(h, r, product);
  }
  return finish(h, key.subarray(16, 32));
}

function clamped(key: Uint8Array): Buffer {
  const r = Buffer.alloc(17);
  r.set(key.subarray(0, 16));
  for (const at of [3, 7, 11, 15]) r[at]! &= 15;
  for (const at of [4, 8, 12]) r[at]! &= 252;
  return r;
}

/** 136 bits as limbs, the least first. */
function split(bytes: Uint8Array): Float64Array {
  const out = new Float64Array(limbs);
  addBlock(out, bytes);
  return out;
}

function addBlock(into: Float64Array, bytes: Uint8Array): void {
  for (let limb = 0; limb < limbs; limb++) {
    const bit = limb * 13;
    const at = bit >> 3;
    const word = (bytes[at] ?? 0) | ((bytes[at + 1] ?? 0) << 8) | ((bytes[at + 2] ?? 0) << 16);
    into[limb]! += (word >>> (bit & 7)) & (limb === limbs - 1 ? 0x7fff : mask);
  }
}

/** h = h · r mod 2^130 - 5: what overflows comes back five times. */
function multiply(h: Float64Array, r: Float64Array, product: Float64Array): void {
  for (let i = 0; i < limbs; i++) {
    let sum = 0;
    for (let j = 0; j < limbs; j++) sum += h[j]! * (j <= i ? r[i - j]! : 5 * r[i + limbs - j]!);
    product[i] = sum;
  }
  carry(product);
  h.set(product);
}

function carry(h: Float64Array): void {
  let over = 0;
  for (let i = 0; i < limbs; i++) {
    const value = h[i]! + over;
    over = Math.floor(value / 8192);
    h[i] = value - over * 8192;
  }
  h[0]! += over * 5;
  over = Math.floor(h[0]! / 8192);
  h[0]! -= over * 8192;
  h[1]! += over;
}

function finish(h: Float64Array, pad: Uint8Array): Buffer {
  let value = 0n;
  for (let i = limbs - 1; i >= 0; i--) value = value * 8192n + BigInt(h[i]!);
  value %= (1n << 130n) - 5n;
  let secret = 0n;
  for (let i = 15; i >= 0; i--) secret = (secret << 8n) | BigInt(pad[i]!);
  let sum = (value + secret) & ((1n << 128n) - 1n);
  const tag = Buffer.alloc(16);
  for (let i = 0; i < 16; i++, sum >>= 8n) tag[i] = Number(sum & 255n);
  return tag;
}
