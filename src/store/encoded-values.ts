// The stored form of the values of writes, see ValueEncoder.

import type { KeyedValue, ValueEncoder, Write } from "./store.ts";

/** Returns the stored form of the value of a single write; throws if it cannot be encoded. */
export function encodedValue({ key, value, encoder }: Write): Uint8Array | null {
  if (value === null || !encoder) return value;
  const [encoded] = encoder.encode([{ key, value }]);
  if (encoded instanceof Error) throw encoded;
  return encoded!;
}

/**
 * Returns the stored form of the values of several writes, or why they have none. Values with the same encoder are
 * encoded together.
 */
export function encodedValues(writes: readonly Write[]): readonly (Uint8Array | Error | null)[] {
  const stored: (Uint8Array | Error | null)[] = writes.map(({ value }) => value);
  const groups = new Map<ValueEncoder, { readonly values: KeyedValue[]; readonly positions: number[] }>();
  for (const [position, { key, value, encoder }] of writes.entries()) {
    if (value === null || !encoder) continue;
    const group = groups.getOrInsertComputed(encoder, () => ({ values: [], positions: [] }));
    group.values.push({ key, value });
    group.positions.push(position);
  }
  for (const [encoder, { values, positions }] of groups)
    for (const [at, encoded] of encoder.encode(values).entries()) stored[positions[at]!] = encoded;
  return stored;
}
