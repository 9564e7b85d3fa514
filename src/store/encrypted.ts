// Encryption at rest on top of any store. The first provider encrypts, all of them decrypt, so keys can be
// rotated.
//
//   stored   enc:aesgcm:v1:key1:<nonce><ciphertext><tag>       read by the provider with that id
//            anything without the marker                       read by identity, if it is among the providers

import { TimeSlice } from "#base";
import { encodedValue } from "./encoded-values.ts";
import { startsWith, stripMarker, valueOpener } from "./encryption/opener.ts";
import { recentWrites } from "./encryption/recent-writes.ts";
import { valueSealer } from "./encryption/sealer.ts";
import { DecryptionFailed } from "./errors.ts";
import type {
  Batch,
  Change,
  Entry,
  Outcome,
  Page,
  Range,
  Revision,
  Store,
  StoreStatus,
  Write,
} from "./store.ts";

/** One way to encrypt a value, bound to the name it is stored under. */
export interface EncryptionProvider {
  /** Identifies the method and the key in front of each value; empty for unencrypted values. */
  readonly id: string;
  /**
   * Seals several values, each as `seal` does. Present if no key service is called: the store then calls it for all
   * values of a batch.
   */
  sealAll?(values: readonly NamedValue[], prefix: Uint8Array): readonly Uint8Array[];
  /** The result begins with `prefix`, which saves a copy compared to prepending it afterwards. */
  seal(value: Uint8Array, name: string, prefix?: Uint8Array): Uint8Array | Promise<Uint8Array>;
  /** Reports whether a value sealed by this provider should be sealed again. */
  isStale?(sealed: Uint8Array): boolean;
  /** Throws if the bytes were not sealed under this name. */
  open(sealed: Uint8Array, name: string): Uint8Array | Promise<Uint8Array>;
}

/** A value and the name it is stored under. */
export interface NamedValue {
  readonly name: string;
  readonly value: Uint8Array;
}

export interface EncryptionOptions {
  /** Prefixes that mark encrypted values; new values are written with the first. */
  readonly markers?: readonly string[];
  /** Reports whether all values below a prefix are stored unencrypted, permanently. */
  readonly isPlain?: (prefix: string) => boolean;
  /** The name a value is bound to, if it is not the key. */
  readonly nameOf?: (key: string) => string;
}

export const noPrefix = new Uint8Array();

/** Stores values unencrypted. */
export const identity: EncryptionProvider = { id: "", seal: (value) => value, open: (sealed) => sealed };

type Providers = readonly EncryptionProvider[];

/** Wraps a store so that values are encrypted at rest; `providers` may differ by key. */
export function encrypted(
  store: Store,
  providers: Providers | ((key: string) => Providers),
  options: EncryptionOptions = {},
): Store {
  const markers = (options.markers ?? ["enc:"]).map((marker) => Buffer.from(marker));
  const nameOf = options.nameOf ?? ((key: string) => key);
  const providersFor = typeof providers === "function" ? providers : () => providers;
  const recent = recentWrites();
  const opener = valueOpener({ providersFor, markers, nameOf, recent });
  const sealer = valueSealer({ providersFor, marker: markers[0]!, nameOf, recent });

  const sealed = (write: Write): Write | Promise<Write> => {
    const { key, value } = write;
    if (value === null) return write;
    if (write.encoder) {
      const { encoder: _, ...rest } = write;
      return sealed({ ...rest, value: encodedValue(write) });
    }
    const encoder = sealer.encoderOf(key);
    if (encoder) return { ...write, encoder };
    const sealing = sealer.seal(key, value);
    return sealing instanceof Promise
      ? sealing.then((bytes) => ({ ...write, value: bytes }))
      : { ...write, value: sealing };
  };
  const entry = (one: Entry): Entry | Promise<Entry> => {
    const value = opener.open(one.key, one.value);
    return value instanceof Promise ? value.then((bytes) => ({ ...one, value: bytes })) : { ...one, value };
  };
  const change = async (one: Change): Promise<Change> => ({
    ...one,
    value: one.value && (await opener.open(one.key, one.value)),
    ...(one.previous && { previous: await entry(one.previous) }),
  });
  /**
   * Returns a function that marks unreadable values. It remembers failed key services, so that one read calls
   * each of them once rather than once per value.
   */
  const marking = (): (<T extends Entry | Change>(one: T) => T | Promise<T>) => {
    const failed = new Map<string, Error>();
    return (one) => {
      if (one.value === null) return one;
      const marked = (error: unknown): typeof one => {
        if (!(error instanceof DecryptionFailed)) throw error;
        return { ...one, value: noBytes, unreadable: error };
      };
      try {
        const value = opener.open(one.key, one.value, failed);
        return value instanceof Promise
          ? value.then((bytes) => ({ ...one, value: bytes }), marked)
          : { ...one, value };
      } catch (error) {
        return marked(error);
      }
    };
  };
  const markedChange = (one: Change): Change | Promise<Change> => {
    const { key, revision, created } = one;
    const value = one.value && opener.known(key, one.value);
    if (value) return { key, revision, value, created };
    const { previous: _, ...rest } = one;
    return marking()(rest);
  };

  return {
    read: async (range: Range, at?: Revision): Promise<Page> => {
      const page = await store.read(range, at);
      return { ...page, entries: await mapYielding(page.entries, marks(range) ? marking() : entry) };
    },
    write: async (write: Write): Promise<Outcome> => {
      const sealing = sealed(write);
      const outcome = await store.write(sealing instanceof Promise ? await sealing : sealing);
      if (outcome.done || !outcome.current) return outcome;
      // A caller that expected the key to be absent does not need its current value.
      const open = write.expect === "absent" ? marking() : entry;
      return { done: false, current: await open(outcome.current) };
    },
    watch: (range: Range, after: Revision, signal: AbortSignal): AsyncIterable<Batch> =>
      decryptedBatches(store.watch(range, after, signal), marks(range) ? markedChange : change),
    isStale: async (key: string): Promise<boolean> => {
      const [first] = providersFor(key);
      if (!first) return false;
      const [found] = (await store.read({ key })).entries;
      if (!found) return false;
      const { marked, rest } = stripMarker(found.value, markers);
      const id = Buffer.from(first.id);
      if (marked !== id.length > 0 || !startsWith(rest, id)) return true;
      return first.isStale?.(rest.subarray(id.length)) ?? false;
    },
    ...(store.derived && { derived: store.derived }),
    local: (prefix: string) => (options.isPlain?.(prefix) ? store.local?.(prefix) : undefined),
    progress: (): Promise<Revision> => store.progress(),
    compact: (through: Revision): Promise<void> => store.compact(through),
    status: (): Promise<StoreStatus> => store.status(),
    close: (): Promise<void> => store.close(),
  };
}

const noBytes = new Uint8Array();

const marks = (range: Range): boolean => "prefix" in range && range.unreadable === "mark";

async function* decryptedBatches(
  batches: AsyncIterable<Batch>,
  change: (one: Change) => Change | Promise<Change>,
): AsyncGenerator<Batch, void, void> {
  for await (const { through, changes } of batches) {
    const opened = changes.map(change);
    // Most values are opened synchronously; awaiting them would only add delay.
    const waiting = opened.some((one) => one instanceof Promise);
    const settled = waiting ? await Promise.all(opened.map(async (one) => await one)) : (opened as Change[]);
    yield { through, changes: settled };
  }
}

/** Maps a long list without blocking the event loop. */
async function mapYielding<T>(items: readonly T[], map: (item: T) => T | Promise<T>): Promise<T[]> {
  const mapped: T[] = [];
  const work = new TimeSlice();
  for (const item of items) {
    const made = map(item);
    mapped.push(made instanceof Promise ? await made : made);
    if (work.tick()) await work.yield();
  }
  return mapped;
}
