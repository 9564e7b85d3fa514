// Looking up what somebody sent in a table of ours: names such as "constructor" and "__proto__" must not find
// what every object inherits.

/** The table's own entry under a key, or undefined. */
export const own = <T>(table: Readonly<Record<string, T>>, key: string): T | undefined =>
  Object.hasOwn(table, key) ? table[key] : undefined;
