// AES-GCM. Stored format: nonce (12), ciphertext, tag (16).
import { createCipheriv, createDecipheriv, createSecretKey } from "node:crypto";
import { type EncryptionProvider, noPrefix } from "../encrypted.ts";
import { randomNonce } from "./nonce.ts";

const nonceBytes = 12;
const tagBytes = 16;

/**
 * AES-GCM with a random nonce. The name of the value is authenticated as additional data, so that a value
 * moved to another key does not decrypt. One key is good for about four billion writes.
 */
export function aesGcm(keyName: string, secret: Uint8Array): EncryptionProvider {
  if (![16, 24, 32].includes(secret.length))
    throw new RangeError(`encryption key "${keyName}" must have 16, 24 or 32 bytes, not ${secret.length}`);
  if (keyName === "") throw new RangeError("an encryption key must have a name");
  const algorithm = `aes-${secret.length * 8}-gcm` as "aes-256-gcm";
  // Imported once rather than for each value.
  const key = createSecretKey(secret);
  return {
    id: `aesgcm:v1:${keyName}:`,
    seal: (value, name, prefix = noPrefix) => {
      const nonce = randomNonce(nonceBytes);
      const cipher = createCipheriv(algorithm, key, nonce).setAAD(Buffer.from(name));
      const at = prefix.length + nonceBytes;
      const sealed = Buffer.allocUnsafe(at + value.length + tagBytes);
      sealed.set(prefix);
      sealed.set(nonce, prefix.length);
      sealed.set(cipher.update(value), at);
      cipher.final();
      sealed.set(cipher.getAuthTag(), at + value.length);
      return sealed;
    },
    open: (sealed, name) => {
      if (sealed.length < nonceBytes + tagBytes) throw new Error("it is too short");
      const decipher = createDecipheriv(algorithm, key, sealed.subarray(0, nonceBytes))
        .setAAD(Buffer.from(name))
        .setAuthTag(sealed.subarray(-tagBytes));
      return Buffer.concat([decipher.update(sealed.subarray(nonceBytes, -tagBytes)), decipher.final()]);
    },
  };
}
