// What this process has just encrypted, so that it need not be decrypted when the store's watch brings it back.
// Kept values are found by their key and used only for the very bytes that were written.

export interface RecentWrites {
  add(key: string, sealed: Uint8Array, value: Uint8Array): void;
  /** The value that these bytes were made of; undefined where that is not known. */
  find(key: string, sealed: Uint8Array): Uint8Array | undefined;
}

const mostValues = 256;
const longestBytes = 16 * 1024;

export function recentWrites(): RecentWrites {
  const kept = new Map<string, { readonly sealed: Uint8Array; readonly value: Uint8Array }>();
  return {
    add: (key, sealed, value) => {
      kept.delete(key);
      if (value.length > longestBytes) return;
      kept.set(key, { sealed, value });
      if (kept.size > mostValues) kept.delete(kept.keys().next().value!);
    },
    find: (key, sealed) => {
      const found = kept.get(key);
      return found && (found.sealed === sealed || Buffer.compare(found.sealed, sealed) === 0)
        ? found.value
        : undefined;
    },
  };
}
