// Maps store keys to etcd keys and ranges. All our keys live under one prefix; nothing outside it is read or
// written.
import type { Entry, Range } from "../store.ts";
import type { KeyValue } from "./messages.ts";

export interface EtcdRange {
  readonly key: Uint8Array;
  readonly rangeEnd?: Uint8Array;
}

export interface EtcdKeys {
  /** Returns the etcd key of a store key. */
  encode(key: string): Uint8Array;
  range(range: Range): EtcdRange;
  entry(kv: KeyValue): Entry;
  decode(key: Uint8Array): string;
}

const endOfAllKeys = Uint8Array.of(0);

export function etcdKeys(prefix: string): EtcdKeys {
  const prefixBytes = Buffer.byteLength(prefix);
  const encode = (key: string): Uint8Array => Buffer.from(prefix + key);
  const decode = (key: Uint8Array): string =>
    Buffer.from(key.buffer, key.byteOffset + prefixBytes, key.byteLength - prefixBytes).toString();
  return {
    encode,
    decode,
    range: (range) => {
      if ("key" in range) return { key: encode(range.key) };
      const start = encode(range.prefix);
      const rangeEnd = endOfPrefix(start);
      const after =
        range.after === undefined ? undefined : Buffer.concat([encode(range.after), endOfAllKeys]);
      const key = after && Buffer.compare(after, start) > 0 ? after : start;
      return { key: key.length ? key : endOfAllKeys, rangeEnd };
    },
    // Values are copied: a slice would keep the whole response alive as long as any of its entries.
    entry: (kv) => ({
      key: decode(kv.key),
      value: new Uint8Array(kv.value),
      revision: kv.modRevision,
      created: kv.createRevision,
    }),
  };
}

/** Returns the first key after all keys with the prefix. */
export function endOfPrefix(prefix: Uint8Array): Uint8Array {
  let length = prefix.length;
  while (length > 0 && prefix[length - 1] === 0xff) length--;
  if (length === 0) return endOfAllKeys;
  const end = Uint8Array.from(prefix.subarray(0, length));
  end[length - 1]!++;
  return end;
}

/** Reports whether an etcd key lies in a range. */
export function inRange({ key, rangeEnd }: EtcdRange, other: Uint8Array): boolean {
  if (!rangeEnd) return Buffer.compare(key, other) === 0;
  const open = rangeEnd.length === 1 && rangeEnd[0] === 0;
  return Buffer.compare(key, other) <= 0 && (open || Buffer.compare(other, rangeEnd) < 0);
}
