// Packs the compiled modules of each program and of the library into a few files: loading hundreds of small
// modules is most of a cold start (120 ms against 35 ms for all kinds). Workers are packed separately under
// their own names, so that `new URL("./x-worker.js", import.meta.url)` finds them either way.
import { existsSync, mkdirSync, readFileSync, rmSync } from "node:fs";
import { basename, join } from "node:path";
import { packLibrary, warmLibrary } from "./pack-library.mjs";
import { packProgram } from "./pack-program.mjs";
import { packUi } from "./pack-ui.mjs";
import { inAscii, put, putMarks } from "./packed-files.mjs";
import { filesUnder, root } from "./setup.mjs";

/** Programs that are packed into scripts instead of modules. */
const scriptPrograms = ["orch-apiserver"];

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

export async function pack() {
  const { build, transform } = await import("esbuild");
  const outdir = join(root, "dist", "pack");
  const compiled = filesUnder("dist", ".js").filter((file) => !file.startsWith("dist/pack/"));
  const isWorker = (file) => /\bparentPort\b/.test(readFileSync(join(root, file), "utf8"));
  const entries = compiled
    .filter((file) => /^dist\/bin\/[^/]+\.js$/.test(file) || isWorker(file))
    .map((file) => [basename(file, ".js"), file]);
  const twice = entries.map(([name]) => name).filter((name, index, names) => names.indexOf(name) !== index);
  if (twice.length) throw new Error(`two programs or workers have the same name: ${twice.join(", ")}`);
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
  for (const path of [...made].filter((file) => file.endsWith(".js"))) made.add(putMarks(path));
  for (const program of scriptPrograms.filter((name) => existsSync(join(root, `dist/bin/${name}.js`))))
    for (const path of await packProgram(build, transform, program, outdir)) made.add(path);
  for (const path of await packLibrary(build, outdir)) made.add(path);
  for (const path of await packUi(join(outdir, "ui"))) made.add(path);
  for (const file of filesUnder("dist/pack")) if (!made.has(join(root, file))) rmSync(join(root, file));
  warmLibrary();
}
