// Methods of ECMAScript 2026 that Node 24 and 25 lack, as the standard defines them. Loaded before any of our
// compiled code.
"use strict";

for (const { prototype } of [Map, WeakMap]) {
  define(prototype, "getOrInsert", function getOrInsert(key, value) {
    if (!this.has(key)) this.set(key, value);
    return this.get(key);
  });
  define(prototype, "getOrInsertComputed", function getOrInsertComputed(key, compute) {
    if (!this.has(key)) this.set(key, compute(key));
    return this.get(key);
  });
}

function define(prototype, name, method) {
  if (name in prototype) return;
  Object.defineProperty(prototype, name, { value: method, writable: true, configurable: true });
}
