// What this process has just encrypted, so that it need not be decrypted when the store's watch brings it back.
// Kept values are found by their key and used only for the very bytes that were written.

export interface RecentWrites {
  add(key: string, sealed: Uint8Array, value: Uint8Array): void;
  /** The value that these bytes were made of; undefined where that is not known. */
  find(key: string, sealed: Uint8Array): Uint8Array | undefined;
}

const mostValues = 256;
const longestBytes = 16 * 1024;

interface Kept {
  readonly sealed: Uint8Array;
  readonly value: Uint8Array;
}

export function recentWrites(): RecentWrites {
  // Two generations: when the younger is full it becomes the older, which is cheaper than dropping one by one.
  let younger = new Map<string, Kept | undefined>();
  let older = new Map<string, Kept | undefined>();
  return {
    add: (key, sealed, value) => {
      younger.set(key, value.length > longestBytes ? undefined : { sealed, value });
      if (younger.size <= mostValues / 2) return;
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
