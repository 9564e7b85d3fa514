// A provider whose keys are in this process. It seals the values of a batch into one buffer.

import { type EncryptionProvider, type NamedValue, noPrefix } from "../encrypted.ts";

export interface LocalMethod {
  readonly id: string;
  /** Returns the number of bytes that a value of this length has when it is sealed. */
  sealedBytes(length: number): number;
  /** Seals the values of a batch. */
  sealInto(values: readonly ValueToSeal[]): void;
  open(sealed: Uint8Array, name: string): Uint8Array;
}

export interface ValueToSeal extends NamedValue {
  /** Receives the result, and has exactly its length. */
  readonly sealed: Buffer;
}

export function localProvider({ id, sealedBytes, sealInto, open }: LocalMethod): EncryptionProvider {
  const sealAll = (values: readonly NamedValue[], prefix: Uint8Array): readonly Buffer[] => {
    const bytesOf = ({ value }: NamedValue): number => prefix.length + sealedBytes(value.length);
    const batch = Buffer.allocUnsafe(values.reduce((sum, value) => sum + bytesOf(value), 0));
    const results: Buffer[] = [];
    const toSeal: ValueToSeal[] = [];
    let end = 0;
    for (const named of values) {
      const result = batch.subarray(end, (end += bytesOf(named)));
      result.set(prefix);
      results.push(result);
      toSeal.push({ name: named.name, value: named.value, sealed: result.subarray(prefix.length) });
    }
    sealInto(toSeal);
    return results;
  };
  return {
    id,
    seal: (value, name, prefix = noPrefix) => sealAll([{ value, name }], prefix)[0]!,
    sealAll,
    open,
  };
}
