// Packs the compiled modules of each program and of each library door into a few files: loading hundreds of
// small modules is most of a cold start (120 ms against 35 ms for all kinds). Workers are packed separately
// under their own names, so that `new URL("./x-worker.js", import.meta.url)` finds them either way.
import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { builtinModules } from "node:module";
import { basename, join } from "node:path";
import { packUi } from "./pack-ui.mjs";
import { filesUnder, root, runtime } from "./setup.mjs";

// An ES import of a built-in module evaluates all its exports, and some of them load unused code: node:http loads
// the fetch client, a quarter of our start. process.getBuiltinModule evaluates only the exports that are used. Line
// numbers are preserved for the source maps.
const builtinImport = /^import (?:(\w+)|\* as (\w+)|\{([^}]*)\}) from "(node:[\w/]+)";$/gm;
function withPlainBuiltins(code) {
  const taken = [];
  const rest = code.replace(builtinImport, (whole, byDefault, all, names, module) => {
    taken.push(
      `const ${byDefault ?? all ?? `{${names.replaceAll(" as ", ": ").replaceAll("\n", " ")}}`} = process.getBuiltinModule("${module}");`,
    );
    return whole.replace(/[^\n]+/g, "");
  });
  return taken.join(" ") + rest;
}

/**
 * Programs that are packed into one script each. V8's code cache of a script can be created after it ran (see bin/launch.js), which
 * saves a fifth of the work of a start; for a module Node caches only what was compiled before it ran, which excludes most functions.
 * Top-level names of a script are global: V8 generates slower code if they are wrapped in a function.
 */
const wholePrograms = ["orch-apiserver"];

async function packWhole(build, program, outdir) {
  const { outputFiles } = await build({
    absWorkingDir: root,
    // esbuild avoids names that it sees used, so the globals of the runtime are listed here.
    stdin: {
      contents: `import "./dist/bin/${program}.js"; globalThis[script].globals = () => [${namesOfGlobals()}];`,
      resolveDir: root,
    },
    outfile: join(outdir, `${program}.cjs`),
    bundle: true,
    platform: "node",
    target: "node24",
    format: "cjs",
    define: { "import.meta.url": "packedAt" },
    plugins: [ownModulesAtOnce],
    logLevel: "warning",
    write: false,
  });
  const code = outputFiles[0].text.replace(/\brequire\("(node:[\w/]+)"\)/g, 'process.getBuiltinModule("$1")');
  // launch.js provides `require` and the path, which a script lacks. The directive makes it strict and must come first.
  const given = `const script = Symbol.for("orch.script"), { require, packedAt } = globalThis[script];`;
  const whole = `"use strict";${given}${inAscii(code)}`;
  const hash = createHash("sha256").update(whole).digest("hex").slice(0, 16);
  return put(join(outdir, `${program}.cjs`), `// ${hash}\n${whole}`);
}

function namesOfGlobals() {
  const all = execFileSync(runtime(), ["-p", "Object.getOwnPropertyNames(globalThis).join()"]);
  // With -p Node also defines built-in modules as globals, some with names that are not identifiers.
  const isGlobal = (name) => /^[\w$]+$/.test(name) && (!builtinModules.includes(name) || name in globalThis);
  return all.toString().trim().split(",").filter(isGlobal).join();
}

/**
 * Turns our own dynamic imports into static ones. esbuild wraps a dynamically imported module, and everything it imports, in a function
 * that is called on demand: that would be nearly all modules, and their constants would become variables.
 */
const ownModulesAtOnce = {
  name: "own modules at once",
  setup: ({ onLoad }) =>
    onLoad({ filter: /[\\/]dist[\\/].*\.js$/ }, ({ path }) => {
      const imports = [];
      const contents = readFileSync(path, "utf8").replace(/\bimport\("([.#][^"]+)"\)/g, (_, module) => {
        const name = `atOnce${imports.length}`;
        imports.push(`import * as ${name} from "${module}";`);
        return `Promise.resolve(${name})`;
      });
      return { contents: imports.join(" ") + contents, loader: "js" };
    }),
};

/** V8 stores a source text with a single character beyond Latin-1 in two bytes per character; esbuild does not escape all of them. */
const inAscii = (code) =>
  code.replace(/[\u0080-\uffff]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`);

/** Renamed into place, so that a program that starts concurrently reads either the old file or the new one. */
function put(path, contents) {
  writeFileSync(`${path}.new`, contents);
  renameSync(`${path}.new`, path);
  return path;
}

const mark = /^\/\/ (?:\S*\/)?([^/\s]+\.[jt]s)$/;

/** Writes the `[line, name]` pairs of the modules in a packed file, from which log lines get their source file. */
function putMarks(path) {
  const lines = readFileSync(path, "utf8").split("\n");
  const marks = lines.flatMap((line, at) => {
    const found = mark.exec(line);
    return found ? [[at + 1, found[1]]] : [];
  });
  return put(`${path}.marks`, JSON.stringify(marks));
}

export async function pack() {
  const { build } = await import("esbuild");
  const outdir = join(root, "dist", "pack");
  const compiled = filesUnder("dist", ".js").filter((file) => !file.startsWith("dist/pack/"));
  const isWorker = (file) => /\bparentPort\b/.test(readFileSync(join(root, file), "utf8"));
  const entries = [
    ...compiled
      .filter((file) => /^dist\/bin\/[^/]+\.js$/.test(file) || isWorker(file))
      .map((file) => [basename(file, ".js"), file]),
    ...["apiserver", "client"]
      .map((room) => [room, `dist/${room}/index.js`])
      .filter(([, file]) => existsSync(join(root, file))),
  ];
  const twice = entries.map(([name]) => name).filter((name, index, names) => names.indexOf(name) !== index);
  if (twice.length) throw new Error(`two programs, workers or doors have the same name: ${twice.join(", ")}`);
  if (entries.length === 0) return;
  const { outputFiles } = await build({
    absWorkingDir: root,
    entryPoints: Object.fromEntries(entries),
    outdir,
    bundle: true,
    splitting: true,
    platform: "node",
    target: "node24",
    format: "esm",
    packages: "external",
    sourcemap: true,
    sourcesContent: false,
    logLevel: "warning",
    write: false,
  });
  mkdirSync(outdir, { recursive: true });
  const made = new Set(
    outputFiles.map(({ path, contents, text }) =>
      put(path, path.endsWith(".js") ? inAscii(withPlainBuiltins(text)) : contents),
    ),
  );
  for (const program of wholePrograms.filter((name) => existsSync(join(root, `dist/bin/${name}.js`))))
    made.add(await packWhole(build, program, outdir));
  for (const path of [...made].filter((file) => /\.c?js$/.test(file))) made.add(putMarks(path));
  for (const path of await packUi(join(outdir, "ui"))) made.add(path);
  for (const file of filesUnder("dist/pack")) if (!made.has(join(root, file))) rmSync(join(root, file));
}
