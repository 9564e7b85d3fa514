// Runs scripts that the build has packed (scripts/pack-program.mjs, scripts/pack-library.mjs) with V8's code cache
// of an earlier run. Plain CommonJS without dependencies, because the launchers use it.
"use strict";
const { existsSync, readFileSync, renameSync, writeFileSync } = require("node:fs");

/**
 * Evaluates a script with its code cache, which saves a fifth of the work of a program's start. The first line of the
 * script is a hash of the rest, since V8 itself compares only the length, its version and its flags.
 */
exports.evaluate = function evaluate(file) {
  const { constants: loaders, Script } = require("node:vm");
  const source = readFileSync(file, "latin1");
  const cache = `${file.slice(0, -".cjs".length)}-${source.slice(3, source.indexOf("\n"))}.cache`;
  const cachedData = existsSync(cache) ? readFileSync(cache) : undefined;
  const script = new Script(source, {
    filename: file,
    cachedData,
    importModuleDynamically: loaders.USE_MAIN_CONTEXT_DEFAULT_LOADER,
  });
  const result = script.runInThisContext();
  return { script, result, cache, isSaved: cachedData !== undefined && !script.cachedDataRejected };
};

/** Writes the code cache of an evaluated script, unless the folder is not writable. */
exports.saveCache = function saveCache({ script, cache }) {
  try {
    writeFileSync(`${cache}.${process.pid}`, script.createCachedData());
    renameSync(`${cache}.${process.pid}`, cache);
  } catch {}
};
