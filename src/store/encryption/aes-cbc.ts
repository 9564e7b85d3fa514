// AES-CBC. Stored format: IV (16), ciphertext with PKCS #7 padding.
import { createCipheriv, createDecipheriv, createSecretKey } from "node:crypto";
import type { EncryptionProvider } from "../encrypted.ts";
import { localProvider } from "./local-provider.ts";
import { randomNonce } from "./nonce.ts";

const vectorBytes = 16;
const blockBytes = 16;

/** AES-CBC with a random IV. It provides confidentiality but does not detect modifications: prefer aesgcm. */
export function aesCbc(keyName: string, secret: Uint8Array): EncryptionProvider {
  const algorithm = `aes-${secret.length * 8}-cbc`;
  // Imported once rather than for each value.
  const key = createSecretKey(secret);
  return localProvider({
    id: `aescbc:v1:${keyName}:`,
    sealedBytes: (length) => vectorBytes + length + blockBytes - (length % blockBytes),
    sealInto: (values) => {
      for (const { sealed, value } of values) {
        const vector = randomNonce(vectorBytes);
        const cipher = createCipheriv(algorithm, key, vector);
        sealed.set(vector);
        const whole = cipher.update(value);
        sealed.set(whole, vectorBytes);
        sealed.set(cipher.final(), vectorBytes + whole.length);
      }
    },
    open: (sealed) => {
      if (sealed.length < 2 * vectorBytes || sealed.length % vectorBytes !== 0)
        throw new Error("it is cut short");
      const decipher = createDecipheriv(algorithm, key, sealed.subarray(0, vectorBytes));
      return Buffer.concat([decipher.update(sealed.subarray(vectorBytes)), decipher.final()]);
    },
  });
}
