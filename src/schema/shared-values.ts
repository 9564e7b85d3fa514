// Parsed values that many objects share: frozen, and checked once. What is derived from them can be remembered.

const shared = new WeakSet<object>();

/** Declares that a value is shared. It must be frozen, with everything in it. */
export function markShared<T extends object>(value: T): T {
  shared.add(value);
  return value;
}

export const isShared = (value: unknown): boolean => shared.has(value as object);
