// AES-GCM. Stored format: nonce (12), ciphertext, tag (16).
import { createCipheriv, createDecipheriv, createSecretKey } from "node:crypto";
import type { EncryptionProvider } from "../encrypted.ts";
import { localProvider } from "./local-provider.ts";
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
  return localProvider({
    id: `aesgcm:v1:${keyName}:`,
    sealedBytes: (length) => nonceBytes + length + tagBytes,
    sealInto: (sealed, value, name) => {
      const nonce = randomNonce(nonceBytes);
      const cipher = createCipheriv(algorithm, key, nonce).setAAD(Buffer.from(name));
      sealed.set(nonce);
      sealed.set(cipher.update(value), nonceBytes);
      cipher.final();
      sealed.set(cipher.getAuthTag(), nonceBytes + value.length);
    },
    open: (sealed, name) => {
      if (sealed.length < nonceBytes + tagBytes) throw new Error("it is too short");
      const decipher = createDecipheriv(algorithm, key, sealed.subarray(0, nonceBytes))
        .setAAD(Buffer.from(name))
        .setAuthTag(sealed.subarray(-tagBytes));
      return Buffer.concat([decipher.update(sealed.subarray(nonceBytes, -tagBytes)), decipher.final()]);
    },
  });
}
