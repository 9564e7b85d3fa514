// Seals values on their way to the store. Providers that call no key service seal all values of a batch when the
// store commits it: sealed as it arrives, a value finds the CPU's caches filled with the code of other work.

import type { EncryptionProvider } from "../encrypted.ts";
import type { KeyedValue, ValueEncoder } from "../store.ts";
import type { RecentWrites } from "./recent-writes.ts";

export interface Sealer {
  /** Returns the encoder that seals values of this key; undefined if `seal` must be called before the write. */
  encoderOf(key: string): ValueEncoder | undefined;
  seal(key: string, value: Uint8Array): Uint8Array | Promise<Uint8Array>;
}

export interface SealerOptions {
  readonly providersFor: (key: string) => readonly EncryptionProvider[];
  /** Marks sealed values. */
  readonly marker: Uint8Array;
  readonly nameOf: (key: string) => string;
  readonly recent: RecentWrites;
}

export function valueSealer({ providersFor, marker, nameOf, recent }: SealerOptions): Sealer {
  const prefixes = new WeakMap<EncryptionProvider, Buffer>();
  const prefixOf = (provider: EncryptionProvider): Buffer =>
    prefixes.getOrInsertComputed(provider, ({ id }) => Buffer.concat([marker, Buffer.from(id)]));
  const providerOf = (key: string): EncryptionProvider => {
    const [first] = providersFor(key);
    if (!first) throw new Error(`no encryption provider for ${JSON.stringify(key)}`);
    return first;
  };

  /** Seals the values together; if that fails, one by one, so that each write fails only for its own reason. */
  const sealAll = (
    values: readonly KeyedValue[],
    provider: EncryptionProvider,
    sealTogether: NonNullable<EncryptionProvider["sealAll"]>,
  ): readonly (Uint8Array | Error)[] => {
    try {
      const named = values.map(({ key, value }) => ({ name: nameOf(key), value }));
      const sealed = sealTogether(named, prefixOf(provider));
      for (const [at, { key, value }] of values.entries()) recent.add(key, sealed[at]!, value);
      return sealed;
    } catch (error) {
      if (values.length === 1) return [error as Error];
      return values.flatMap((one) => sealAll([one], provider, sealTogether));
    }
  };
  // Values are encoded together if they have the same encoder.
  const encoders = new WeakMap<EncryptionProvider, ValueEncoder>();

  return {
    encoderOf: (key) => {
      const provider = providerOf(key);
      const { sealAll: sealTogether } = provider;
      if (!sealTogether) return undefined;
      return encoders.getOrInsertComputed(provider, () => ({
        encode: (values) => sealAll(values, provider, sealTogether),
      }));
    },
    seal: (key, value) => {
      const provider = providerOf(key);
      if (!provider.id) return provider.seal(value, nameOf(key));
      const remembered = (sealed: Uint8Array): Uint8Array => {
        recent.add(key, sealed, value);
        return sealed;
      };
      // Awaiting a result that is already there would only add delay.
      const sealed = provider.seal(value, nameOf(key), prefixOf(provider));
      return sealed instanceof Promise ? sealed.then(remembered) : remembered(sealed);
    },
  };
}
