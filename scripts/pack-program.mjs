// Packs a program into scripts rather than modules. V8's code cache of a script can be created after it ran (see
// bin/packed-script.js), which saves a fifth of the work of a start; for a module Node caches only what was compiled before it ran,
// which excludes most functions.
import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { builtinModules } from "node:module";
import { basename, join, relative } from "node:path";
import { inAscii, modulesIn, put } from "./packed-files.mjs";
import { root, runtime } from "./setup.mjs";

/**
 * Packs a program into a script with all modules that it imports statically, and one script for each group of modules that the same
 * dynamic imports need. Top-level names are global, so all scripts see each other's.
 *
 *   orch-apiserver.cjs     (log, server, …)     await import("./etcd.js")  ->  globalThis[script].later([2, 1], () => etcd_exports)
 *   orch-apiserver-1.cjs   (grpc)
 *   orch-apiserver-2.cjs   (etcd)
 */
export async function packProgram(build, transform, program, outdir) {
  const entry = `dist/bin/${program}.js`;
  const common = {
    absWorkingDir: root,
    outfile: join(outdir, `${program}.cjs`),
    bundle: true,
    metafile: true,
    platform: "node",
    target: "node24",
    logLevel: "warning",
    write: false,
  };
  const { metafile } = await build({ ...common, entryPoints: [entry], format: "esm" });
  const groups = groupsOf(metafile.inputs, entry);
  const { outputFiles, metafile: joined } = await build({
    ...common,
    // esbuild avoids names that it sees used, so the globals of the runtime are listed here.
    stdin: {
      contents: `import "./${entry}"; globalThis[script].globals = () => [${namesOfGlobals()}];`,
      resolveDir: root,
    },
    format: "cjs",
    define: { "import.meta.url": "packedAt" },
    plugins: [staticImports(metafile.inputs, groups)],
  });
  const text = outputFiles[0].text.replace(/\brequire\("(node:[\w/]+)"\)/g, 'process.getBuiltinModule("$1")');
  const scripts = Array.from({ length: groups.count }, () => []);
  for (const { path, code } of modulesIn(inAscii(text), joined.inputs))
    scripts[groups.of.get(path) ?? 0].push(await compact(transform, path, code));
  return scripts.flatMap((modules, index) =>
    putScript(join(outdir, `${program}${index === 0 ? "" : `-${index}`}.cjs`), modules, index === 0),
  );
}

/**
 * Assigns each module to a script: 0 for those that the entry imports statically, directly or not; the others by the set of
 * dynamic imports through which they are reached.
 */
function groupsOf(inputs, entry) {
  const closure = (from) => {
    const reached = new Set([from]);
    for (const path of reached)
      for (const { path: to, kind } of inputs[path].imports)
        if (kind !== "dynamic-import" && inputs[to]) reached.add(to);
    return reached;
  };
  const always = closure(entry);
  const rootsOf = new Map();
  const roots = Object.values(inputs)
    .flatMap(({ imports }) => imports.filter(({ kind }) => kind === "dynamic-import"))
    .map(({ path }) => path)
    .filter((path, index, all) => inputs[path] && !always.has(path) && all.indexOf(path) === index)
    .toSorted((a, b) => a.localeCompare(b));
  for (const from of roots)
    for (const path of closure(from))
      if (!always.has(path)) rootsOf.set(path, [...(rootsOf.get(path) ?? []), from]);
  const keys = [...new Set([...rootsOf.values()].map(String))].toSorted();
  return {
    count: keys.length + 1,
    of: new Map([...rootsOf].map(([path, from]) => [path, keys.indexOf(String(from)) + 1])),
    /** The scripts that an imported module needs. Those needed by more modules come first: others may use them when they are run. */
    neededBy: (root) =>
      keys
        .map((key, index) => ({ roots: key.split(","), index: index + 1 }))
        .filter((group) => group.roots.includes(root))
        .sort((a, b) => b.roots.length - a.roots.length)
        .map(({ index }) => index),
  };
}

/**
 * Turns dynamic imports into static ones. esbuild wraps a dynamically imported module, and everything it imports, in a function that is
 * called on demand: that would be nearly all modules, and their constants would become variables.
 */
const staticImports = (inputs, groups) => ({
  name: "static imports",
  setup: ({ onLoad }) =>
    onLoad({ filter: /[\\/]dist[\\/].*\.js$/ }, ({ path }) => {
      const from = inputs[relative(root, path)].imports;
      const imports = [];
      const contents = readFileSync(path, "utf8").replace(/\bimport\("([^"]+)"\)/g, (whole, module) => {
        const target = from.find(({ original, kind }) => original === module && kind === "dynamic-import");
        if (!target || !inputs[target.path]) return whole;
        const name = `imported${imports.length}`;
        imports.push(`import * as ${name} from "${module}";`);
        const scripts = groups.neededBy(target.path);
        if (scripts.length === 0) return `Promise.resolve(${name})`;
        return `globalThis[script].later([${scripts}], () => ${name})`;
      });
      return { contents: imports.join(" ") + contents, loader: "js" };
    }),
});

const logCall = /\.(info|warn|error|verbose|enabled)\(/g;

/**
 * Removes white space from a module: V8 keeps the source text in memory, and a table of its lines. Also returns the position and
 * original line of each call of a log.
 */
async function compact(transform, path, code) {
  const { code: text } = await transform(code, {
    minifyWhitespace: true,
    target: "node24",
    logLevel: "error",
  });
  const before = [...code.matchAll(logCall)].map((call) => positionIn(code, call.index + 1).line);
  const after = [...text.matchAll(logCall)].map((call) => positionIn(text, call.index + 1));
  if (before.length !== after.length) throw new Error(`${path}: calls of logs were removed or added`);
  const calls = after.map(({ line, column }, index) => [`${line}:${column}`, before[index]]);
  return { name: basename(path), text: inAscii(text), calls: Object.fromEntries(calls) };
}

/** Counts lines and columns from 1, as V8 does. */
function positionIn(text, index) {
  const before = text.slice(0, index).split("\n");
  return { line: before.length, column: before.at(-1).length + 1 };
}

function putScript(path, modules, isFirst) {
  // launch.js provides `require` and the path, which a script lacks. The directive makes it strict and must come first.
  const given = isFirst
    ? `const script = Symbol.for("orch.script"), { require, packedAt } = globalThis[script];`
    : "";
  const marks = [];
  let code = `"use strict";${given}\n`;
  // The line before the first module, below the hash.
  let line = 2;
  for (const { name, text, calls } of modules) {
    if (/\.[jt]s$/.test(name)) marks.push([line, name, ...(Object.keys(calls).length > 0 ? [calls] : [])]);
    code += text;
    line += text.split("\n").length - 1;
  }
  const hash = createHash("sha256").update(code).digest("hex").slice(0, 16);
  return [put(path, `// ${hash}\n${code}`), put(`${path}.marks`, JSON.stringify(marks))];
}

function namesOfGlobals() {
  const all = execFileSync(runtime(), ["-p", "Object.getOwnPropertyNames(globalThis).join()"]);
  // With -p Node also defines built-in modules as globals, some with names that are not identifiers.
  const isGlobal = (name) => /^[\w$]+$/.test(name) && (!builtinModules.includes(name) || name in globalThis);
  return all.toString().trim().split(",").filter(isGlobal).join();
}
