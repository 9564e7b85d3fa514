// secretbox: XSalsa20 and Poly1305, combined as in NaCl. Stored format: nonce (24), tag (16), ciphertext.
//
//   words     key of the authenticator (8)   message …        0 … up to a whole block
//             └ the stream alone             └ plain or sealed, changed in place
import { timingSafeEqual } from "node:crypto";
import { type EncryptionProvider, noPrefix } from "../encrypted.ts";
import { randomNonce } from "./nonce.ts";
import { poly1305 } from "./poly1305.ts";
import { xsalsa20 } from "./salsa20.ts";

const keyBytes = 32;
const nonceBytes = 24;
const tagBytes = 16;
const headBytes = nonceBytes + tagBytes;
/** Offset of the message after the authenticator's key, in bytes and in words. */
const messageAt = 32;
const messageWord = 8;

export function secretbox(keyName: string, secret: Uint8Array): EncryptionProvider {
  if (secret.length !== keyBytes)
    throw new RangeError(`encryption key "${keyName}" must have ${keyBytes} bytes, not ${secret.length}`);
  const key = wordsOf(secret);
  return {
    id: `secretbox:v1:${keyName}:`,
    seal: (value, _name, prefix = noPrefix) => {
      const nonce = randomNonce(nonceBytes);
      const work = workFor(value);
      crypt(key, nonce, work);
      const { words, bytes, length } = work;
      bytes.fill(0, messageAt + length, messageAt + length + 15);
      const at = prefix.length;
      const sealed = Buffer.allocUnsafe(at + headBytes + length);
      sealed.set(prefix);
      sealed.set(nonce, at);
      sealed.set(bytesOf(poly1305(words, messageWord, length, words)), at + nonceBytes);
      sealed.set(bytes.subarray(messageAt, messageAt + length), at + headBytes);
      words.fill(0, 0, messageWord);
      return sealed;
    },
    open: (sealed) => {
      if (sealed.length < headBytes) throw new Error("it is too short");
      const work = workFor(sealed.subarray(headBytes));
      const { words, bytes, length } = work;
      // The tag covers the ciphertext: derive the authenticator's key first, and decrypt only if the tag
      // matches.
      const nonce = sealed.subarray(0, nonceBytes);
      const once = new Uint32Array(16);
      xsalsa20(key, wordsOf(nonce), once, 1);
      const tag = bytesOf(poly1305(words, messageWord, length, once));
      if (!timingSafeEqual(tag, sealed.subarray(nonceBytes, headBytes)))
        throw new Error("it was changed, or encrypted with another key");
      crypt(key, nonce, work);
      const plain = Buffer.from(bytes.subarray(messageAt, messageAt + length));
      words.fill(0);
      return plain;
    },
  };
}

interface Work {
  readonly words: Uint32Array;
  /** A view of the same memory. */
  readonly bytes: Uint8Array;
  readonly length: number;
}

const blockBytes = 64;
const blocksFor = (length: number): number => Math.ceil((messageAt + length) / blockBytes);

/** Scratch memory, large enough for most values. */
const shared = new Uint32Array(16 * 1024);
const sharedBytes = new Uint8Array(shared.buffer);

function workFor(message: Uint8Array): Work {
  const { length } = message;
  const size = blocksFor(length) * blockBytes;
  const words = size <= sharedBytes.length ? shared : new Uint32Array(size / 4);
  const bytes = words === shared ? sharedBytes : new Uint8Array(words.buffer);
  bytes.fill(0, 0, messageAt);
  bytes.set(message, messageAt);
  bytes.fill(0, messageAt + length, size);
  return { words, bytes, length };
}

const crypt = (key: Uint32Array, nonce: Uint8Array, { words, length }: Work): void =>
  xsalsa20(key, wordsOf(nonce), words, blocksFor(length));

/** Copies the bytes, since words must be aligned. */
function wordsOf(bytes: Uint8Array): Uint32Array {
  const words = new Uint32Array(bytes.length / 4);
  new Uint8Array(words.buffer).set(bytes);
  return words;
}

const bytesOf = (words: Uint32Array): Uint8Array => new Uint8Array(words.buffer);
