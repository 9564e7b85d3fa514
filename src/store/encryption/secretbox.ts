// secretbox: XSalsa20 and Poly1305, as NaCl joins them. Stored: nonce (24), tag (16), ciphertext.
import { timingSafeEqual } from "node:crypto";
import type { EncryptionProvider } from "../encrypted.ts";
import { randomNonce } from "./nonce.ts";
import { poly1305 } from "./poly1305.ts";
import { xsalsa20 } from "./salsa20.ts";

const keyBytes = 32;
const nonceBytes = 24;
const tagBytes = 16;

export function secretbox(keyName: string, secret: Uint8Array): EncryptionProvider {
  if (secret.length !== keyBytes)
    throw new RangeError(`encryption key "${keyName}" must have ${keyBytes} bytes, not ${secret.length}`);
  const key = Buffer.from(secret);
  return {
    id: `secretbox:v1:${keyName}:`,
    seal: (value) => {
      const nonce = randomNonce(nonceBytes);
      const { once, ciphertext } = crypted(key, nonce, value);
      return Buffer.concat([nonce, poly1305(ciphertext, once), ciphertext]);
    },
    open: (sealed) => {
      if (sealed.length < nonceBytes + tagBytes) throw new Error("it is too short");
      const bytes = Buffer.from(sealed.buffer, sealed.byteOffset, sealed.length);
      const body = bytes.subarray(nonceBytes + tagBytes);
      const { once, ciphertext: plain } = crypted(key, bytes.subarray(0, nonceBytes), body);
      if (!timingSafeEqual(poly1305(body, once), bytes.subarray(nonceBytes, nonceBytes + tagBytes)))
        throw new Error("it was changed, or encrypted with another key");
      return plain;
    },
  };
}

/** The stream begins with the key of the authenticator; the message follows. */
function crypted(key: Buffer, nonce: Buffer, message: Uint8Array): { once: Buffer; ciphertext: Buffer } {
  const stream = xsalsa20(key, nonce, 32 + message.length);
  const out = Buffer.allocUnsafe(message.length);
  for (let at = 0; at < message.length; at++) out[at] = message[at]! ^ stream[32 + at]!;
  return { once: stream.subarray(0, 32), ciphertext: out };
}
