// Plain data that many share is frozen: whoever changes it by mistake fails at once, instead of changing what
// everybody else sees.

export function deepFreeze<T>(value: T): T {
  if (typeof value !== "object" || value === null || Object.isFrozen(value)) return value;
  Object.freeze(value);
  for (const item of Object.values(value)) deepFreeze(item);
  return value;
}
