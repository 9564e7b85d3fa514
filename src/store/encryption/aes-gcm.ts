// AES-GCM. Stored format: nonce (12), ciphertext, tag (16).
import { type KeyObject, createCipheriv, createDecipheriv, createSecretKey, randomBytes } from "node:crypto";
import type { EncryptionProvider } from "../encrypted.ts";
import { gcmSealer, maxSealedHere, nonceBytes, tagBytes } from "./gcm.ts";
import { type ValueToSeal, localProvider } from "./local-provider.ts";
import { randomNonce } from "./nonce.ts";

/**
 * AES-GCM with a random nonce. The name of the value is authenticated as additional data, so that a value
 * moved to another key does not decrypt. One key is good for about four billion writes.
 */
export function aesGcm(keyName: string, secret: Uint8Array): EncryptionProvider {
  if (![16, 24, 32].includes(secret.length))
    throw new RangeError(`encryption key "${keyName}" must have 16, 24 or 32 bytes, not ${secret.length}`);
  if (keyName === "") throw new RangeError("an encryption key must have a name");
  // Imported once rather than for each value.
  const key = createSecretKey(secret);
  const sealSmall = gcmSealer(secret);
  const isSmall = ({ value, name }: ValueToSeal): boolean =>
    value.length + Buffer.byteLength(name) <= maxSealedHere;
  const provider = localProvider({
    id: `aesgcm:v1:${keyName}:`,
    sealedBytes: (length) => nonceBytes + length + tagBytes,
    sealInto: (values) => {
      const small = values.filter(isSmall);
      if (small.length > 0) sealSmall(small);
      if (small.length === values.length) return;
      for (const value of values) if (!isSmall(value)) sealLarge(key, value);
    },
    open: (sealed, name) => {
      if (sealed.length < nonceBytes + tagBytes) throw new Error("it is too short");
      const decipher = createDecipheriv(algorithmOf(key), key, sealed.subarray(0, nonceBytes))
        .setAAD(Buffer.from(name))
        .setAuthTag(sealed.subarray(-tagBytes));
      return Buffer.concat([decipher.update(sealed.subarray(nonceBytes, -tagBytes)), decipher.final()]);
    },
  });
  checkSealed(provider);
  return provider;
}

const algorithmOf = (key: KeyObject): "aes-256-gcm" =>
  `aes-${key.symmetricKeySize! * 8}-gcm` as "aes-256-gcm";

function sealLarge(key: KeyObject, { sealed, value, name }: ValueToSeal): void {
  const nonce = randomNonce(nonceBytes);
  const cipher = createCipheriv(algorithmOf(key), key, nonce).setAAD(Buffer.from(name));
  sealed.set(nonce);
  sealed.set(cipher.update(value), nonceBytes);
  cipher.final();
  sealed.set(cipher.getAuthTag(), nonceBytes + value.length);
}

/** Lengths that need each path: no block, a part of one, several groups of blocks. */
const checkedLengths = [0, 5, 1000];

/** Opens sealed samples with OpenSSL: a processor or runtime that computes wrongly must be noticed before a write. */
function checkSealed({ seal, open }: EncryptionProvider): void {
  for (const length of checkedLengths) {
    const sample = randomBytes(length);
    let opened: Uint8Array | undefined;
    try {
      opened = open(seal(sample, "/check") as Uint8Array, "/check") as Uint8Array;
    } catch {
      // Reported below.
    }
    if (!opened || !sample.equals(opened))
      throw new Error("AES-GCM in WebAssembly does not agree with OpenSSL on this machine");
  }
}
