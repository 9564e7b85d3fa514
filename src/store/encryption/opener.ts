// Opens stored values: with the provider whose id is in front of them, or as they are if they are not marked.

import type { EncryptionProvider } from "../encrypted.ts";
import { DecryptionFailed } from "../errors.ts";
import type { RecentWrites } from "./recent-writes.ts";

export interface Opener {
  /** Returns the value if it need not be decrypted: it is stored unencrypted or was just written. */
  known(key: string, stored: Uint8Array): Uint8Array | undefined;
  /** Throws DecryptionFailed. `failedServices` has the key services that failed before, which are not called again. */
  open(
    key: string,
    stored: Uint8Array,
    failedServices?: Map<string, Error>,
  ): Uint8Array | Promise<Uint8Array>;
}

export interface OpenerOptions {
  readonly providersFor: (key: string) => readonly EncryptionProvider[];
  readonly markers: readonly Uint8Array[];
  readonly nameOf: (key: string) => string;
  readonly recent: RecentWrites;
}

export function valueOpener({ providersFor, markers, nameOf, recent }: OpenerOptions): Opener {
  const known = (key: string, stored: Uint8Array): Uint8Array | undefined => {
    const written = recent.find(key, stored);
    if (written) return written;
    // The same buffer: the resource identifies what it has just written by it.
    return markers.some((marker) => startsWith(stored, marker)) || !providersFor(key).some(isIdentity)
      ? undefined
      : stored;
  };
  return {
    known,
    open: (key, stored, failedServices) => {
      const value = known(key, stored);
      if (value) return value;
      const { marked, rest } = stripMarker(stored, markers);
      let failure: DecryptionFailed | undefined;
      for (const provider of marked ? providersFor(key) : []) {
        const id = Buffer.from(provider.id);
        if (id.length === 0 || !startsWith(rest, id)) continue;
        const failed = (error: unknown): DecryptionFailed =>
          new DecryptionFailed(key, `${provider.id.slice(0, -1)}: ${(error as Error).message}`);
        const before = failedServices?.get(provider.id);
        if (before) throw failed(before);
        try {
          const opened = provider.open(rest.subarray(id.length), nameOf(key));
          return opened instanceof Promise
            ? opened.catch((error: unknown) => {
                failedServices?.set(provider.id, error as Error);
                throw failed(error);
              })
            : opened;
        } catch (error) {
          // Another provider may have the same id.
          failure ??= failed(error);
        }
      }
      if (failure) throw failure;
      // Method, version and key name; the rest is ciphertext, which may contain a colon by chance.
      const named = /^(?:[\x21-\x39\x3b-\x7e]*:){3}/.exec(rest.subarray(0, 80).toString("latin1"))?.[0];
      throw new DecryptionFailed(
        key,
        marked
          ? `no provider is configured for "${named ?? "unknown"}"`
          : "it is not encrypted, and identity is not among the providers",
      );
    },
  };
}

const isIdentity = ({ id }: EncryptionProvider): boolean => id === "";

export function stripMarker(
  stored: Uint8Array,
  markers: readonly Uint8Array[],
): { readonly marked: boolean; readonly rest: Buffer } {
  const bytes = Buffer.from(stored.buffer, stored.byteOffset, stored.length);
  const marker = markers.find((each) => startsWith(stored, each));
  return { marked: marker !== undefined, rest: marker ? bytes.subarray(marker.length) : bytes };
}

/** Compares byte by byte, which is cheaper for a few bytes than a view of them. */
export function startsWith(bytes: Uint8Array, start: Uint8Array): boolean {
  if (bytes.length < start.length) return false;
  for (let at = 0; at < start.length; at++) if (bytes[at] !== start[at]) return false;
  return true;
}
