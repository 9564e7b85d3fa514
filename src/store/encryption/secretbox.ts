// secretbox: XSalsa20 and Poly1305, combined as in NaCl. Stored format: nonce (24), tag (16), ciphertext. The inner
// loops are in WebAssembly (docs/adr/0017-secretbox-in-webassembly.md).
//
//   memory   state | rounds | first blocks | tag |   key of the authenticator (32)   message   padding
//                                                    └ the stream alone               └ plain or sealed
import { timingSafeEqual } from "node:crypto";
import type { EncryptionProvider } from "../encrypted.ts";
import { localProvider } from "./local-provider.ts";
import { randomNonce } from "./nonce.ts";
import { poly1305Function } from "./poly1305.ts";
import { addBlocksFunction, constants, counterWord, groupBytes, roundsFunction } from "./salsa20.ts";
import { type WasmMemory, compileWasm, pageBytes } from "./wasm.ts";

const keyBytes = 32;
const nonceBytes = 24;
const tagBytes = 16;
const headBytes = nonceBytes + tagBytes;
const blockBytes = 16;

interface Exports {
  readonly memory: WasmMemory;
  readonly rounds: (state: number, to: number) => void;
  readonly addBlocks: (state: number, rounds: number, message: number) => void;
  readonly poly1305: (key: number, from: number, whole: number, to: number, tag: number) => void;
}

const stateAt = 0;
const roundsAt = 64;
const firstAt = roundsAt + groupBytes;
const tagAt = firstAt + groupBytes;
const streamAt = 1024;
const messageAt = streamAt + keyBytes;

let instantiate: (() => Exports) | undefined;

export function secretbox(keyName: string, secret: Uint8Array): EncryptionProvider {
  if (secret.length !== keyBytes)
    throw new RangeError(`encryption key "${keyName}" must have ${keyBytes} bytes, not ${secret.length}`);
  instantiate ??= compileWasm<Exports>([roundsFunction(), addBlocksFunction(), poly1305Function()], 1);
  const { memory, rounds, addBlocks, poly1305 } = instantiate();
  let bytes = Buffer.from(memory.buffer);
  let words = new Uint32Array(memory.buffer);
  const key = wordsOf(secret);

  /** Copies a message and zeros for the authenticator's key into the memory, which grows if necessary. */
  function load(message: Uint8Array): void {
    const end = messageAt + message.length + groupBytes;
    if (end > bytes.length) {
      memory.grow(Math.ceil((end - bytes.length) / pageBytes));
      bytes = Buffer.from(memory.buffer);
      words = new Uint32Array(memory.buffer);
    }
    bytes.fill(0, streamAt, messageAt);
    bytes.set(message, messageAt);
  }

  /** Prepares the state: the inner key is derived from the key and the first 16 bytes of the nonce (HSalsa20). */
  function start(nonce: Uint8Array): void {
    const input = wordsOf(nonce);
    setState(key, 0, input, 4);
    rounds(stateAt, roundsAt);
    // The first lane has the counter as it is given.
    for (const [at, word] of derivedWords.entries())
      words[firstAt / 4 + at] = words[roundsAt / 4 + word * 4]!;
    setState(words, firstAt / 4, input.subarray(4), 2);
  }

  function setState(from: Uint32Array, at: number, input: Uint32Array, inputs: number): void {
    for (let word = 0; word < 4; word++) {
      words[word * 5] = constants[word]!;
      words[1 + word] = from[at + word]!;
      words[6 + word] = word < inputs ? input[word]! : 0;
      words[11 + word] = from[at + 4 + word]!;
    }
  }

  /** Adds the key stream, from its beginning, to a number of bytes, and to more in the last group of blocks. */
  function addStream(at: number, length: number): void {
    for (let done = 0, counter = 0; done < length; done += groupBytes, counter += 4) {
      words[counterWord] = counter;
      rounds(stateAt, roundsAt);
      addBlocks(stateAt, roundsAt, at + done);
    }
  }

  /** Returns the tag of the message in memory, as a view. */
  function authenticate(authenticatorKey: number, length: number): Buffer {
    const end = messageAt + length;
    const whole = messageAt + length - (length % blockBytes);
    bytes.fill(0, end, end + blockBytes);
    bytes[end] = 1;
    poly1305(authenticatorKey, messageAt, whole, whole === end ? whole : whole + blockBytes, tagAt);
    return bytes.subarray(tagAt, tagAt + tagBytes);
  }

  return localProvider({
    id: `secretbox:v1:${keyName}:`,
    sealedBytes: (length) => headBytes + length,
    sealInto: (values) => {
      for (const { sealed, value } of values) {
        const { length } = value;
        const nonce = randomNonce(nonceBytes);
        load(value);
        start(nonce);
        addStream(streamAt, keyBytes + length);
        sealed.set(nonce);
        sealed.set(authenticate(streamAt, length), nonceBytes);
        sealed.set(bytes.subarray(messageAt, messageAt + length), headBytes);
      }
      // No key outlives a call.
      bytes.fill(0, 0, messageAt);
    },
    open: (sealed) => {
      if (sealed.length < headBytes) throw new Error("it is too short");
      const length = sealed.length - headBytes;
      load(sealed.subarray(headBytes));
      start(sealed.subarray(0, nonceBytes));
      try {
        // The tag covers the ciphertext: derive the authenticator's key first, and decrypt only if the tag matches.
        bytes.fill(0, firstAt, firstAt + groupBytes);
        addStream(firstAt, keyBytes);
        const tag = authenticate(firstAt, length);
        if (!timingSafeEqual(tag, sealed.subarray(nonceBytes, headBytes)))
          throw new Error("it was changed, or encrypted with another key");
        addStream(streamAt, keyBytes + length);
        return Buffer.from(bytes.subarray(messageAt, messageAt + length));
      } finally {
        bytes.fill(0, 0, messageAt + length);
      }
    },
  });
}

/** Words of the state after the rounds that are the derived key. */
const derivedWords = [0, 5, 10, 15, 6, 7, 8, 9] as const;

/** Copies the bytes, since words must be aligned. */
function wordsOf(bytes: Uint8Array): Uint32Array {
  const words = new Uint32Array(bytes.length / 4);
  new Uint8Array(words.buffer).set(bytes);
  return words;
}
