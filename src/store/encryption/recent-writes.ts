// Cache of values this process has just encrypted, so that they need not be decrypted when the store's watch
// returns them. Values are looked up by key and used only for exactly the bytes that were written.

export interface RecentWrites {
  add(key: string, sealed: Uint8Array, value: Uint8Array): void;
  /** Returns the plaintext of these bytes, or undefined if it is not cached. */
  find(key: string, sealed: Uint8Array): Uint8Array | undefined;
}

const maxValues = 256;
const maxValueBytes = 16 * 1024;

interface CachedValue {
  readonly sealed: Uint8Array;
  readonly value: Uint8Array;
}

export function recentWrites(): RecentWrites {
  // Two generations: when the younger is full it becomes the older, which is cheaper than evicting entries
  // one by one.
  let younger = new Map<string, CachedValue | undefined>();
  let older = new Map<string, CachedValue | undefined>();
  return {
    add: (key, sealed, value) => {
      younger.set(key, value.length > maxValueBytes ? undefined : { sealed, value });
      if (younger.size <= maxValues / 2) return;
      older = younger;
      younger = new Map();
    },
    find: (key, sealed) => {
      const found = younger.get(key) ?? older.get(key);
      return found && (found.sealed === sealed || Buffer.compare(found.sealed, sealed) === 0)
        ? found.value
        : undefined;
    },
  };
}
