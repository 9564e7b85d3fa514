// A provider whose keys are in this process. It seals the values of a batch into one buffer.

import { type EncryptionProvider, type NamedValue, noPrefix } from "../encrypted.ts";

export interface LocalMethod {
  readonly id: string;
  /** Returns the number of bytes that a value of this length has when it is sealed. */
  sealedBytes(length: number): number;
  /** Seals a value into exactly the bytes for it. */
  sealInto(sealed: Buffer, value: Uint8Array, name: string): void;
  open(sealed: Uint8Array, name: string): Uint8Array;
}

export function localProvider({ id, sealedBytes, sealInto, open }: LocalMethod): EncryptionProvider {
  const sealAll = (values: readonly NamedValue[], prefix: Uint8Array): readonly Buffer[] => {
    const bytesOf = ({ value }: NamedValue): number => prefix.length + sealedBytes(value.length);
    const batch = Buffer.allocUnsafe(values.reduce((sum, value) => sum + bytesOf(value), 0));
    let end = 0;
    return values.map((named) => {
      const sealed = batch.subarray(end, (end += bytesOf(named)));
      sealed.set(prefix);
      sealInto(sealed.subarray(prefix.length), named.value, named.name);
      return sealed;
    });
  };
  return {
    id,
    seal: (value, name, prefix = noPrefix) => sealAll([{ value, name }], prefix)[0]!,
    sealAll,
    open,
  };
}
