// Loads the library's parts for its doors, dist/pack/client.js and dist/pack/apiserver.js. Both doors see the same
// modules.
"use strict";
require("./missing-methods.js");
const { createRequire } = require("node:module");
const { fileURLToPath } = require("node:url");
const { evaluate, saveCache } = require("./packed-script.js");

const evaluated = new Map();

/** Returns what the last of these parts returns; each part gets what the one before it returned. */
exports.partOf = function partOf(door, names) {
  return names.reduce((before, name) => load(new URL(`./${name}.cjs`, door), before), undefined);
};

function load(url, before) {
  const file = fileURLToPath(url);
  let part = evaluated.get(file);
  if (part === undefined) {
    const script = evaluate(file);
    // Workers and other files are resolved relative to the modules.
    const packedAt = url.href.replace(/\.cjs$/, ".js");
    part = script.result(createRequire(url), packedAt, before);
    evaluated.set(file, part);
    // At the end the cache covers all functions that were used.
    if (!script.isSaved) process.once("exit", (code) => code === 0 && saveCache(script));
  }
  return part;
}
