// Freezes plain data that is shared: code that modifies it by mistake fails immediately, instead of changing
// the data of all other users.

export function deepFreeze<T>(value: T): T {
  if (typeof value !== "object" || value === null || Object.isFrozen(value)) return value;
  Object.freeze(value);
  for (const item of Object.values(value)) deepFreeze(item);
  return value;
}
