import assert from "node:assert/strict";
import { createPublicKey, generateKeyPairSync } from "node:crypto";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { signingKey, signingKeyOf, verificationKeys, verificationKeysOf } from "./service-account-keys.ts";

const pem = (pair: {
  privateKey: { export(options: { type: "pkcs8"; format: "pem" }): string | Buffer };
}): string => pair.privateKey.export({ type: "pkcs8", format: "pem" }).toString();
const rsaPem = pem(generateKeyPairSync("rsa", { modulusLength: 2048 }));
const ecPem = pem(generateKeyPairSync("ec", { namedCurve: "P-256" }));
const ec = signingKeyOf(ecPem, "ec");

test("all keys of key files are read, with clear errors", () => {
  assert.equal(verificationKeysOf(`${rsaPem}\n# a comment\n${ecPem}`, "keys.pem").length, 2);
  assert.equal(verificationKeysOf(rsaPem, "k")[0]!.key.type, "public");
  assert.throws(() => verificationKeysOf("nothing", "keys.pem"), /^Error: keys.pem: no key found/);
  assert.throws(
    () => verificationKeysOf(pem(generateKeyPairSync("ed25519")), "keys.pem"),
    /keys.pem: a key of type ed25519/,
  );
  assert.throws(
    () => signingKeyOf("-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----", "sa.key"),
    /sa.key: the key cannot be read/,
  );
});

test("public keys of either kind verify, and those of several files are combined", () => {
  const folder = mkdtempSync(join(tmpdir(), "keys-"));
  try {
    const files = [rsaPem, ecPem].map((key, at) => {
      const file = join(folder, `${at}.pub`);
      writeFileSync(file, createPublicKey(key).export({ type: "spki", format: "pem" }).toString());
      return file;
    });
    assert.deepEqual(
      verificationKeys(files).map(({ algorithm, key }) => [algorithm, key.type]),
      [
        ["RS256", "public"],
        ["ES256", "public"],
      ],
    );
  } finally {
    rmSync(folder, { recursive: true });
  }
});

test("the first private key of a file signs, and a file without one is refused by name", () => {
  const folder = mkdtempSync(join(tmpdir(), "keys-"));
  try {
    const file = join(folder, "sa.key");
    const publicPem = createPublicKey(rsaPem).export({ type: "spki", format: "pem" }).toString();
    writeFileSync(file, `${publicPem}\n${ecPem}\n${rsaPem}`);
    assert.deepEqual(
      [signingKey(file).id, signingKey(file).algorithm, signingKey(file).key.type],
      [ec.id, "ES256", "private"],
    );
    writeFileSync(file, publicPem);
    assert.throws(() => signingKey(file), {
      message: `${file}: no private key found (expected PEM text with an RSA or ECDSA private key)`,
    });
  } finally {
    rmSync(folder, { recursive: true });
  }
});
