import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { test } from "node:test";
import { poly1305Function } from "./poly1305.ts";
import { secretbox } from "./secretbox.ts";
import { type WasmMemory, compileWasm } from "./wasm.ts";

const hex = (text: string): Buffer => Buffer.from(text.replace(/\s/g, ""), "hex");

interface Exports {
  readonly memory: WasmMemory;
  readonly poly1305: (key: number, from: number, whole: number, to: number, tag: number) => void;
}
const authenticator = compileWasm<Exports>([poly1305Function()], 1)();

function poly1305(message: Uint8Array, key: Uint8Array): Buffer {
  const bytes = Buffer.from(authenticator.memory.buffer);
  const [from, tag] = [64, 32];
  const whole = from + message.length - (message.length % 16);
  bytes.set(key);
  bytes.set(message, from);
  bytes.fill(0, from + message.length, from + message.length + 16);
  bytes[from + message.length] = 1;
  authenticator.poly1305(0, from, whole, message.length % 16 === 0 ? whole : whole + 16, tag);
  return Buffer.from(bytes.subarray(tag, tag + 16));
}

/** The Salsa20 specification: a block after the rounds, with or without the last addition. */
function salsa20(input: readonly number[], adds: boolean): number[] {
  const x = [...input];
  const rotate = (value: number, bits: number): number => (value << bits) | (value >>> (32 - bits));
  const quarter = (a: number, b: number, c: number, d: number): void => {
    x[b]! ^= rotate((x[a]! + x[d]!) | 0, 7);
    x[c]! ^= rotate((x[b]! + x[a]!) | 0, 9);
    x[d]! ^= rotate((x[c]! + x[b]!) | 0, 13);
    x[a]! ^= rotate((x[d]! + x[c]!) | 0, 18);
  };
  for (let round = 0; round < 10; round++) {
    for (let at = 0; at < 4; at++) quarter(5 * at, (5 * at + 4) % 16, (5 * at + 8) % 16, (5 * at + 12) % 16);
    for (let at = 0; at < 4; at++)
      quarter(5 * at, 4 * at + ((at + 1) % 4), 4 * at + ((at + 2) % 4), 4 * at + ((at + 3) % 4));
  }
  return x.map((word, at) => (adds ? word + input[at]! : word) >>> 0);
}

/** secretbox as NaCl defines it. */
function sealedByDefinition(value: Uint8Array, key: Buffer, nonce: Buffer): Buffer {
  const wordsIn = (bytes: Buffer): number[] =>
    Array.from({ length: bytes.length / 4 }, (_, at) => bytes.readUInt32LE(at * 4));
  const [c0, c1, c2, c3] = wordsIn(Buffer.from("expand 32-byte k")) as [number, number, number, number];
  const stateOf = (k: readonly number[], input: readonly number[]): number[] => [
    c0,
    ...k.slice(0, 4),
    c1,
    ...input,
    c2,
    ...k.slice(4),
    c3,
  ];
  const words = wordsIn(nonce);
  const hashed = salsa20(stateOf(wordsIn(key), words.slice(0, 4)), false);
  const subKey = [0, 5, 10, 15, 6, 7, 8, 9].map((at) => hashed[at]!);
  const stream = Array.from({ length: Math.ceil((32 + value.length) / 64) }, (_, block) =>
    Buffer.from(Uint32Array.from(salsa20(stateOf(subKey, [words[4]!, words[5]!, block, 0]), true)).buffer),
  );
  const bytes = Buffer.concat(stream);
  const sealed = Buffer.from(value.map((byte, at) => byte ^ bytes[32 + at]!));
  return Buffer.concat([nonce, poly1305ByDefinition(sealed, bytes.subarray(0, 32)), sealed]);
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

test("secretbox seals values of every length as defined, one after the other with one key", () => {
  const key = randomBytes(32);
  const box = secretbox("k", key);
  for (const length of [
    ...Array(330).keys(),
    479,
    480,
    481,
    735,
    736,
    737,
    4096,
    7,
    65_000,
    64_479,
    70_000,
    1,
  ]) {
    const value = length % 3 === 0 ? Buffer.alloc(length, 0xff) : randomBytes(length);
    const sealed = box.seal(value, "", Buffer.from("prefix")) as Buffer;
    assert.equal(sealed.subarray(0, 6).toString(), "prefix");
    const body = sealed.subarray(6);
    assert.deepEqual(body, sealedByDefinition(value, key, body.subarray(0, 24)), `${length} bytes`);
    assert.deepEqual(box.open(body, ""), value);
  }
});

test("secretbox seals with extreme keys as defined", () => {
  for (const key of [Buffer.alloc(32), Buffer.alloc(32, 0xff), Buffer.alloc(32, 0x80)]) {
    const sealed = secretbox("k", key).seal(Buffer.alloc(300, 1), "") as Buffer;
    assert.deepEqual(sealed, sealedByDefinition(Buffer.alloc(300, 1), key, sealed.subarray(0, 24)));
  }
});

test("secretbox opens no value with any bit changed", () => {
  const box = secretbox("k", randomBytes(32));
  const sealed = box.seal(Buffer.from("a value"), "") as Buffer;
  for (let bit = 0; bit < sealed.length * 8; bit++) {
    const changed = Buffer.from(sealed);
    changed[bit >> 3]! ^= 1 << (bit & 7);
    assert.throws(() => box.open(changed, ""), /changed/);
  }
  assert.equal(String(box.open(sealed, "")), "a value");
});

test("a key of invalid length is refused", () =>
  assert.throws(() => secretbox("k", Buffer.alloc(24)), /32 bytes/));
