import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { test } from "node:test";
import { poly1305 as tagOf } from "./poly1305.ts";
import { secretbox } from "./secretbox.ts";

const hex = (text: string): Buffer => Buffer.from(text.replace(/\s/g, ""), "hex");

function poly1305(message: Uint8Array, key: Uint8Array): Buffer {
  const words = (bytes: Uint8Array, size: number): Uint32Array => {
    const padded = new Uint8Array(size);
    padded.set(bytes);
    return new Uint32Array(padded.buffer);
  };
  const whole = Math.ceil(message.length / 16) * 16;
  return Buffer.from(tagOf(words(message, whole), 0, message.length, words(key, 32)).buffer);
}

/** Poly1305 as defined in RFC 8439, in arbitrary-precision arithmetic. */
function poly1305ByDefinition(message: Uint8Array, key: Uint8Array): Buffer {
  const number = (bytes: Uint8Array): bigint =>
    bytes.reduceRight((value, byte) => (value << 8n) | BigInt(byte), 0n);
  const r = number(key.subarray(0, 16)) & 0x0ffffffc0ffffffc0ffffffc0fffffffn;
  let sum = 0n;
  for (let at = 0; at < message.length; at += 16) {
    const block = message.subarray(at, at + 16);
    sum = ((sum + number(block) + (1n << BigInt(8 * block.length))) * r) % ((1n << 130n) - 5n);
  }
  let tag = sum + number(key.subarray(16));
  return Buffer.from(
    Array.from({ length: 16 }, () => {
      const byte = Number(tag & 255n);
      tag >>= 8n;
      return byte;
    }),
  );
}

test("Poly1305 returns the tag of RFC 8439", () => {
  const key = hex("85d6be7857556d337f4452fe42d506a80103808afb0db2fd4abff6af4149f51b");
  const tag = poly1305(Buffer.from("Cryptographic Forum Research Group"), key);
  assert.equal(tag.toString("hex"), "a8061dc1305136c6c22b8baf0c0127a9");
});

test("Poly1305 reduces numbers just below and above its prime", () => {
  // RFC 8439 A.3, vectors 7 and 9.
  const two = hex(`02${"00".repeat(31)}`);
  const one = hex(`01${"00".repeat(31)}`);
  assert.equal(
    poly1305(hex(`${"ff".repeat(16)}f0${"ff".repeat(15)}11${"00".repeat(15)}`), one).toString("hex"),
    `05${"00".repeat(15)}`,
  );
  assert.equal(poly1305(hex(`fd${"ff".repeat(15)}`), two).toString("hex"), `fa${"ff".repeat(15)}`);
});

test("Poly1305 agrees with its definition at every length and at the limits of its numbers", () => {
  for (let length = 0; length <= 130; length++)
    for (const [message, key] of [
      [randomBytes(length), randomBytes(32)],
      [Buffer.alloc(length, 0xff), Buffer.alloc(32, 0xff)],
      [Buffer.alloc(length, 0xff), randomBytes(32)],
      [Buffer.alloc(length), Buffer.alloc(32, 0xff)],
    ] as const)
      assert.deepEqual(poly1305(message, key), poly1305ByDefinition(message, key), `${length} bytes`);
});

test("secretbox opens the box in NaCl's documentation", () => {
  const key = hex("1b27556473e985d462cd51197a9a46c76009549eac6474f206c4ee0844f68389");
  const nonce = hex("69696ee955b62b73cd62bda875fc73d68219e0036b7a0b37");
  const box = hex(
    `f3ffc7703f9400e52a7dfb4b3d3305d98e993b9f48681273c29650ba32fc76ce48332ea7164d96a4476fb8c531a1186a
     c0dfc17c98dce87b4da7f011ec48c97271d2c20f9b928fe2270d6fb863d51738b48eeee314a7cc8ab932164548e526ae
     90224368517acfeabd6bb3732bc0e9da99832b61ca01b6de56244a9e88d5f9b37973f622a43d14a6599b1f654cb45a74
     e355a5`,
  );
  const plain = secretbox("k", key).open(Buffer.concat([nonce, box]), "") as Buffer;
  assert.equal(plain.subarray(0, 8).toString("hex"), "be075fc53c81f2d5");
  assert.equal(plain.length, 131);
});

for (const size of [0, 1, 15, 16, 17, 31, 32, 33, 63, 64, 65, 5000, 70_000])
  test(`a sealed value of ${size} bytes opens, and a modified one does not`, () => {
    const box = secretbox("k", randomBytes(32));
    const value = randomBytes(size);
    const sealed = Buffer.from(box.seal(value, "") as Uint8Array);
    assert.deepEqual(Buffer.from(box.open(sealed, "") as Uint8Array), value);
    for (const at of [0, 24, sealed.length - 1]) {
      const changed = Buffer.from(sealed);
      changed[at]! ^= 1;
      assert.throws(() => box.open(changed, ""), /changed/);
    }
    assert.throws(() => box.open(sealed.subarray(0, 39), ""), /too short/);
  });

test("a key of invalid length is refused", () =>
  assert.throws(() => secretbox("k", Buffer.alloc(24)), /32 bytes/));
