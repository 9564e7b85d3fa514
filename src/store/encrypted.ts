// Encryption at rest on top of any store. The first provider encrypts, all of them decrypt, so keys can be
// rotated.
//
//   stored   enc:aesgcm:v1:key1:<nonce><ciphertext><tag>       read by the provider with that id
//            anything without the marker                       read by identity, if it is among the providers

import { TimeSlice } from "#base";
import { type RecentWrites, recentWrites } from "./encryption/recent-writes.ts";
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
  /** The result begins with `prefix`, which saves a copy compared to prepending it afterwards. */
  seal(value: Uint8Array, name: string, prefix?: Uint8Array): Uint8Array | Promise<Uint8Array>;
  /** Reports whether a value sealed by this provider should be sealed again. */
  isStale?(sealed: Uint8Array): boolean;
  /** Throws if the bytes were not sealed under this name. */
  open(sealed: Uint8Array, name: string): Uint8Array | Promise<Uint8Array>;
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

/** No provider can decrypt the value. */
export class DecryptionFailed extends Error {
  override readonly name = "DecryptionFailed";
  readonly key: string;
  constructor(key: string, detail: string) {
    super(`the value of ${JSON.stringify(key)} cannot be decrypted: ${detail}`);
    this.key = key;
  }
}

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
  const opener = valueOpener(providersFor, markers, nameOf, recent);

  const prefixes = new WeakMap<EncryptionProvider, Buffer>();
  const prefixOf = (provider: EncryptionProvider): Buffer => {
    let known = prefixes.get(provider);
    if (!known) prefixes.set(provider, (known = Buffer.concat([markers[0]!, Buffer.from(provider.id)])));
    return known;
  };
  /** Most providers seal synchronously; awaiting their result would only add delay. */
  const seal = (key: string, value: Uint8Array): Uint8Array | Promise<Uint8Array> => {
    const [first] = providersFor(key);
    if (!first) throw new Error(`no encryption provider for ${JSON.stringify(key)}`);
    if (!first.id) return first.seal(value, nameOf(key));
    const sealed = first.seal(value, nameOf(key), prefixOf(first));
    const remembered = (stored: Uint8Array): Uint8Array => {
      recent.add(key, stored, value);
      return stored;
    };
    return sealed instanceof Promise ? sealed.then(remembered) : remembered(sealed);
  };
  const entry = (one: Entry): Entry | Promise<Entry> => {
    const value = opener(one.key, one.value);
    return value instanceof Promise ? value.then((bytes) => ({ ...one, value: bytes })) : { ...one, value };
  };
  const change = async (one: Change): Promise<Change> => ({
    ...one,
    value: one.value && (await opener(one.key, one.value)),
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
        const value = opener(one.key, one.value, failed);
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
    const written = one.value && recent.find(key, one.value);
    if (written) return { key, revision, value: written, created };
    const { previous: _, ...rest } = one;
    return marking()(rest);
  };

  return {
    read: async (range: Range, at?: Revision): Promise<Page> => {
      const page = await store.read(range, at);
      return { ...page, entries: await mapYielding(page.entries, marks(range) ? marking() : entry) };
    },
    write: async (write: Write): Promise<Outcome> => {
      const sealing = write.value && seal(write.key, write.value);
      const value = sealing instanceof Promise ? await sealing : sealing;
      const outcome = await store.write({ ...write, value });
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
      if (marked !== id.length > 0 || !rest.subarray(0, id.length).equals(id)) return true;
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

function stripMarker(
  stored: Uint8Array,
  markers: readonly Buffer[],
): { readonly marked: boolean; readonly rest: Buffer } {
  const bytes = Buffer.from(stored.buffer, stored.byteOffset, stored.length);
  const marker = markers.find((each) => bytes.subarray(0, each.length).equals(each));
  return { marked: marker !== undefined, rest: marker ? bytes.subarray(marker.length) : bytes };
}

function valueOpener(
  providersFor: (key: string) => Providers,
  markers: readonly Buffer[],
  nameOf: (key: string) => string,
  recent: RecentWrites,
): (key: string, stored: Uint8Array, failed?: Map<string, Error>) => Uint8Array | Promise<Uint8Array> {
  return (key, stored, failedServices) => {
    const written = recent.find(key, stored);
    if (written) return written;
    const { marked, rest } = stripMarker(stored, markers);
    let failure: DecryptionFailed | undefined;
    for (const provider of providersFor(key)) {
      // The same buffer: RecentWrites identifies values by it.
      if (!marked && provider.id === "") return stored;
      const id = Buffer.from(provider.id);
      if (!marked || id.length === 0 || !rest.subarray(0, id.length).equals(id)) continue;
      const failed = (error: unknown): DecryptionFailed =>
        new DecryptionFailed(key, `${provider.id.slice(0, -1)}: ${(error as Error).message}`);
      const before = failedServices?.get(provider.id);
      if (before) throw failed(before);
      try {
        const value = provider.open(rest.subarray(id.length), nameOf(key));
        return value instanceof Promise
          ? value.catch((error: unknown) => {
              failedServices?.set(provider.id, error as Error);
              throw failed(error);
            })
          : value;
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
  };
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
