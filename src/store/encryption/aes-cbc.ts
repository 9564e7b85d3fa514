// AES-CBC. Stored format: IV (16), ciphertext with PKCS #7 padding.
import { createCipheriv, createDecipheriv, createSecretKey } from "node:crypto";
import { type EncryptionProvider, noPrefix } from "../encrypted.ts";
import { randomNonce } from "./nonce.ts";

const vectorBytes = 16;

/** AES-CBC with a random IV. It provides confidentiality but does not detect modifications: prefer aesgcm. */
export function aesCbc(keyName: string, secret: Uint8Array): EncryptionProvider {
  const algorithm = `aes-${secret.length * 8}-cbc`;
  // Imported once rather than for each value.
  const key = createSecretKey(secret);
  return {
    id: `aescbc:v1:${keyName}:`,
    seal: (value, _name, prefix = noPrefix) => {
      const vector = randomNonce(vectorBytes);
      const cipher = createCipheriv(algorithm, key, vector);
      return Buffer.concat([prefix, vector, cipher.update(value), cipher.final()]);
    },
    open: (sealed) => {
      if (sealed.length < 2 * vectorBytes || sealed.length % vectorBytes !== 0)
        throw new Error("it is cut short");
      const decipher = createDecipheriv(algorithm, key, sealed.subarray(0, vectorBytes));
      return Buffer.concat([decipher.update(sealed.subarray(vectorBytes)), decipher.final()]);
    },
  };
}
