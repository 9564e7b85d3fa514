// Access to objects by untrusted keys: names such as "constructor" and "__proto__" must neither find nor
// change inherited properties.

/** Returns the own property under a key, or undefined. */
export const own = <T>(table: Readonly<Record<string, T>>, key: string): T | undefined =>
  Object.hasOwn(table, key) ? table[key] : undefined;

/** Sets an own property; `__proto__` becomes an ordinary key, as in JSON.parse. */
export function setOwn(target: Record<string, unknown>, key: string, value: unknown): void {
  if (key === "__proto__")
    Object.defineProperty(target, key, { value, writable: true, enumerable: true, configurable: true });
  else target[key] = value;
}
