import assert from "node:assert/strict";
import { createDecipheriv, randomBytes } from "node:crypto";
import { test } from "node:test";
import type { NamedValue } from "../encrypted.ts";
import { aesGcm } from "./aes-gcm.ts";
import { maxSealedHere } from "./gcm.ts";
import { blockBytes, ghashFunction, tablesBytes, writeTables } from "./ghash.ts";
import { type WasmMemory, compileWasm } from "./wasm.ts";

const hex = (text: string): Buffer => Buffer.from(text, "hex");

interface Exports {
  readonly memory: WasmMemory;
  readonly ghash: (tables: number, from: number, to: number, sum: number) => void;
}

/** GHASH of whole blocks, in WebAssembly. */
function ghasher(hashKey: Buffer): (blocks: Buffer) => Buffer {
  const { memory, ghash } = compileWasm<Exports>([ghashFunction()], 1)();
  const bytes = Buffer.from(memory.buffer);
  const sumAt = tablesBytes;
  const hash = (blocks: Buffer): Buffer => {
    const zeros = Buffer.alloc((64 - (blocks.length % 64)) % 64);
    bytes.fill(0, sumAt, sumAt + blockBytes);
    bytes.set(Buffer.concat([zeros, blocks]), sumAt + blockBytes);
    ghash(0, sumAt + blockBytes, sumAt + blockBytes + zeros.length + blocks.length, sumAt);
    return Buffer.from(bytes.subarray(sumAt, sumAt + blockBytes));
  };
  writeTables(bytes.subarray(0, tablesBytes), hashKey, hash);
  return hash;
}

/** GHASH as defined in NIST SP 800-38D, bit by bit. */
function ghashByDefinition(hashKey: Buffer, blocks: Buffer): Buffer {
  const number = (block: Buffer): bigint => BigInt(`0x${block.toString("hex")}`);
  let sum = 0n;
  for (let at = 0; at < blocks.length; at += blockBytes) {
    sum ^= number(blocks.subarray(at, at + blockBytes));
    let product = 0n;
    let power = number(hashKey);
    for (let bit = 127n; bit >= 0n; bit--) {
      if ((sum >> bit) & 1n) product ^= power;
      power = (power >> 1n) ^ (power & 1n ? 0xe1n << 120n : 0n);
    }
    sum = product;
  }
  return hex(sum.toString(16).padStart(32, "0"));
}

test("GHASH returns the value of the specification's test case 2", () => {
  const hash = ghasher(hex("66e94bd4ef8a2c3b884cfa59ca342b2e"));
  const blocks = hex(`0388dace60b6a392f328c2b971b2fe78${"00".repeat(8)}${"80".padStart(16, "0")}`);
  assert.equal(hash(blocks).toString("hex"), "f38cbb1ad69223dcc3457ae5b6b0f885");
});

test("GHASH agrees with its definition for each number of blocks, and for extreme keys and blocks", () => {
  for (const hashKey of [
    randomBytes(16),
    Buffer.alloc(16),
    Buffer.alloc(16, 0xff),
    hex(`80${"00".repeat(15)}`),
    hex(`${"00".repeat(15)}01`),
  ]) {
    const hash = ghasher(hashKey);
    for (let blocks = 1; blocks <= 17; blocks++)
      for (const message of [
        randomBytes(blocks * 16),
        Buffer.alloc(blocks * 16, 0xff),
        Buffer.alloc(blocks * 16),
      ])
        assert.deepEqual(hash(message), ghashByDefinition(hashKey, message), `${blocks} blocks`);
  }
});

test("GHASH multiplies each bit by each bit as defined", () => {
  for (let keyBit = 0; keyBit < 128; keyBit++) {
    const hashKey = Buffer.alloc(16);
    hashKey[keyBit >> 3] = 0x80 >> (keyBit & 7);
    const hash = ghasher(hashKey);
    for (let bit = keyBit % 5; bit < 128; bit += 5) {
      const message = Buffer.alloc(16);
      message[bit >> 3] = 0x80 >> (bit & 7);
      assert.deepEqual(hash(message), ghashByDefinition(hashKey, message), `bits ${keyBit} and ${bit}`);
    }
  }
});

function openByOpenSsl(secret: Buffer, sealed: Uint8Array, name: string): Buffer {
  const decipher = createDecipheriv(
    `aes-${secret.length * 8}-gcm` as "aes-256-gcm",
    secret,
    sealed.subarray(0, 12),
  )
    .setAAD(Buffer.from(name))
    .setAuthTag(sealed.subarray(-16));
  return Buffer.concat([decipher.update(sealed.subarray(12, -16)), decipher.final()]);
}

function assertSealed(secret: Buffer, values: readonly NamedValue[]): void {
  const prefix = Buffer.from("a prefix:");
  const sealed = aesGcm("k", secret).sealAll!(values, prefix);
  assert.equal(sealed.length, values.length);
  for (const [at, { name, value }] of values.entries()) {
    assert.equal(String(sealed[at]!.subarray(0, prefix.length)), "a prefix:");
    const opened = openByOpenSsl(secret, sealed[at]!.subarray(prefix.length), name);
    assert.ok(opened.equals(value), `value ${at} of ${value.length} bytes`);
  }
}

for (const bytes of [16, 24, 32])
  test(`OpenSSL opens values of every length sealed in a batch, with a key of ${bytes} bytes`, () => {
    const values = Array.from({ length: 300 }, (_, length) => ({
      name: "n".repeat(length % 70),
      value: length % 3 === 0 ? Buffer.alloc(length, 0xff) : randomBytes(length),
    }));
    for (const secret of [randomBytes(bytes), Buffer.alloc(bytes), Buffer.alloc(bytes, 0xff)])
      assertSealed(secret, values);
  });

test("values and names around the size that is left to OpenSSL are sealed, in the order given", () => {
  const values = [-17, -16, -1, 0, 1, 100_000, -8000, 1, 0].map((more) => ({
    name: "/ü/name",
    value: randomBytes(maxSealedHere - Buffer.byteLength("/ü/name") + more),
  }));
  assertSealed(randomBytes(32), [
    ...values,
    { name: "n".repeat(maxSealedHere), value: Buffer.alloc(0) },
    { name: "n".repeat(2 * maxSealedHere), value: randomBytes(5) },
    { name: "", value: Buffer.alloc(0) },
  ]);
});

test("a batch with more counters than are encrypted at once is sealed", () =>
  assertSealed(
    randomBytes(32),
    Array.from({ length: 40 }, (_, at) => ({ name: `/name/${at}`, value: randomBytes(8000 - at) })),
  ));

test("each value of a batch has its own nonce", () => {
  const same = Array.from({ length: 2000 }, () => ({ name: "/x", value: Buffer.from("the same") }));
  const sealed = aesGcm("k", randomBytes(32)).sealAll!(same, Buffer.alloc(0));
  assert.equal(new Set(sealed.map((one) => Buffer.from(one).toString("hex", 0, 12))).size, same.length);
});

test("AES-GCM opens no value with any bit changed, cut short, or under another name", () => {
  const provider = aesGcm("k", randomBytes(32));
  const sealed = provider.seal(Buffer.from("a value"), "/x") as Buffer;
  for (let bit = 0; bit < sealed.length * 8; bit++) {
    const changed = Buffer.from(sealed);
    changed[bit >> 3]! ^= 1 << (bit & 7);
    assert.throws(() => provider.open(changed, "/x"));
  }
  assert.throws(() => provider.open(sealed.subarray(0, 27), "/x"), /too short/);
  assert.throws(() => provider.open(sealed, "/y"));
  assert.equal(String(provider.open(sealed, "/x")), "a value");
});
