// Data encryption keys: each encrypts values, and is itself encrypted by a key service.
import { createCipheriv, createDecipheriv, randomBytes } from "node:crypto";

const algorithmOf = (secret: Uint8Array, mode: "gcm" | "cbc"): string => `aes-${secret.length * 8}-${mode}`;
const nonceBytes = 12;
const tagBytes = 16;
export const dataKeyBytes = 32;

export interface DataKey {
  seal(value: Uint8Array, name: string): Buffer;
  open(sealed: Uint8Array, name: string): Buffer;
}

/**
 * Creates a data key. A random start followed by a counter keeps nonces unique, however many values one key
 * encrypts.
 */
export function dataKey(secret: Uint8Array): DataKey {
  const start = randomBytes(nonceBytes - 8);
  let counter = 0n;
  return {
    seal: (value, name) => {
      const nonce = Buffer.alloc(nonceBytes);
      start.copy(nonce);
      nonce.writeBigUInt64BE(++counter, nonceBytes - 8);
      const cipher = createCipheriv(algorithmOf(secret, "gcm") as "aes-256-gcm", secret, nonce).setAAD(
        Buffer.from(name),
      );
      const body = cipher.update(value);
      cipher.final();
      return Buffer.concat([nonce, body, cipher.getAuthTag()]);
    },
    open: (sealed, name) => {
      if (sealed.length < nonceBytes + tagBytes) throw new Error("it is too short");
      const decipher = createDecipheriv(
        algorithmOf(secret, "gcm") as "aes-256-gcm",
        secret,
        sealed.subarray(0, nonceBytes),
      )
        .setAAD(Buffer.from(name))
        .setAuthTag(sealed.subarray(-tagBytes));
      return Buffer.concat([decipher.update(sealed.subarray(nonceBytes, -tagBytes)), decipher.final()]);
    },
  };
}

/** Decrypts values that older releases wrote with data keys of version 1. */
export function openCbc(secret: Uint8Array, sealed: Uint8Array): Buffer {
  const decipher = createDecipheriv(algorithmOf(secret, "cbc"), secret, sealed.subarray(0, 16));
  return Buffer.concat([decipher.update(sealed.subarray(16)), decipher.final()]);
}

/** Throws if the length is not an AES key size; a key returned by the service need not be one of ours. */
export function checkDataKey(secret: Uint8Array): void {
  if (![16, 24, 32].includes(secret.length)) throw new Error(`crypto/aes: invalid key size ${secret.length}`);
}

/** An LRU cache of at most `size` keys; a negative size disables it. */
export class DataKeyCache<T> {
  readonly #entries = new Map<string, T>();
  readonly #size: number;
  constructor(size: number) {
    this.#size = size;
  }
  get size(): number {
    return this.#entries.size;
  }
  get(id: string): T | undefined {
    const found = this.#entries.get(id);
    if (found !== undefined) this.set(id, found);
    return found;
  }
  set(id: string, value: T): void {
    this.#entries.delete(id);
    if (this.#size <= 0) return;
    this.#entries.set(id, value);
    if (this.#entries.size > this.#size) this.#entries.delete(this.#entries.keys().next().value!);
  }
}
