// Packs the compiled modules of each program and of each library door into a few files: loading hundreds of
// small modules is most of a cold start (120 ms against 35 ms for all kinds). Workers are packed beside,
// under their own names, so that `new URL("./x-worker.js", import.meta.url)` finds them either way.
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { packUi } from "./pack-ui.mjs";
import { filesUnder, root } from "./setup.mjs";

// An ES import of a built-in module reads all its exports, and some of those load what nobody here uses:
// node:http alone brings the whole fetch client, a quarter of our start. Asked for by name, modules give only
// what is taken. Lines stay where they are, for the source maps.
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
 * Programs that are also packed into one script each, for test harnesses, which start them often. What V8 compiled for a
 * script can be kept after it ran (see bin/launch.js); of a module, Node keeps only what was compiled before it ran, and
 * most functions are not yet.
 */
const wholePrograms = ["orch-apiserver"];

async function packWhole(build, program, outdir) {
  const { outputFiles } = await build({
    absWorkingDir: root,
    entryPoints: [`dist/bin/${program}.js`],
    outfile: join(outdir, `${program}.cjs`),
    bundle: true,
    platform: "node",
    target: "node24",
    format: "cjs",
    define: { "import.meta.url": "packedAt" },
    logLevel: "warning",
    write: false,
  });
  const code = outputFiles[0].text.replace(/\brequire\("(node:[\w/]+)"\)/g, 'process.getBuiltinModule("$1")');
  // Workers and other files are looked for beside a module that is packed the other way.
  const packedAt = `const packedAt = require("node:url").pathToFileURL(__filename.replace(/cjs$/, "js")).href;`;
  // Strict as the modules are: a directive counts only before all statements.
  const script = `"use strict";${packedAt}${code}`;
  const hash = createHash("sha256").update(script).digest("hex").slice(0, 16);
  return put(join(outdir, `${program}.cjs`), `// ${hash}\n${script}`);
}

/** Renamed into place, so that a program started in this moment reads either the old file or the new one. */
function put(path, contents) {
  writeFileSync(`${path}.new`, contents);
  renameSync(`${path}.new`, path);
  return path;
}

const mark = /^\/\/ (?:\S*\/)?([^/\s]+\.[jt]s)$/;

/** Logs tell lines by the modules they come from: `[line, name]` of those in a file is written beside it. */
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
      put(path, path.endsWith(".js") ? withPlainBuiltins(text) : contents),
    ),
  );
  for (const program of wholePrograms.filter((name) => existsSync(join(root, `dist/bin/${name}.js`))))
    made.add(await packWhole(build, program, outdir));
  for (const path of [...made].filter((file) => /\.c?js$/.test(file))) made.add(putMarks(path));
  for (const path of await packUi(join(outdir, "ui"))) made.add(path);
  for (const file of filesUnder("dist/pack")) if (!made.has(join(root, file))) rmSync(join(root, file));
}
