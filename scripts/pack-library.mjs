// Packs the library into two scripts rather than modules, because V8's code cache of a script covers the functions that ran before it
// was created (see bin/packed-script.js): importing `orch/apiserver` and starting a server take half the time. The scripts are
// functions, since their names must not become globals of a test's process.
//
//   client.cjs      (function(require, packedAt) { …; return { names that apiserver.cjs uses, client_exports } })
//   apiserver.cjs   (function(require, packedAt, { those names }) { …; return { apiserver_exports } })
//   client.js       export const { … } = partOf(…, ["client"]).client_exports
import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { inAscii, modulesIn, put, putMarks } from "./packed-files.mjs";
import { root, runtime } from "./setup.mjs";

/** Each part uses names of the one before it. */
const parts = ["client", "apiserver"];

export async function packLibrary(build, outdir) {
  const rooms = parts.filter((room) => existsSync(join(root, entryOf(room))));
  if (rooms.length === 0) return [];
  const common = {
    absWorkingDir: root,
    outdir,
    bundle: true,
    metafile: true,
    platform: "node",
    target: "node24",
    packages: "external",
    logLevel: "warning",
    write: false,
  };
  const { metafile } = await build({ ...common, entryPoints: rooms.map(entryOf), format: "esm" });
  rejectChangingExports(Object.keys(metafile.inputs));
  const { outputFiles, metafile: joined } = await build({
    ...common,
    stdin: {
      contents: rooms
        .map((room) => `import * as ${room} from "./${entryOf(room)}"; keep(${room});`)
        .join("\n"),
      resolveDir: root,
    },
    format: "cjs",
    define: { "import.meta.url": "packedAt" },
    plugins: [staticImports(Object.keys(metafile.inputs))],
  });
  const text = outputFiles[0].text.replace(/\brequire\("(node:[\w/]+)"\)/g, 'process.getBuiltinModule("$1")');
  const closures = rooms.map((room) => closureOf(metafile.inputs, entryOf(room)));
  const codes = rooms.map(() => "");
  let namespaces;
  for (const { path, code } of modulesIn(inAscii(text), joined.inputs)) {
    // esbuild's own functions come first; the module that imports the rooms comes last and names their exports.
    const part = path === "" ? 0 : closures.findIndex((closure) => closure.has(path));
    if (path === "<stdin>") namespaces = [...code.matchAll(/^keep\((\w+)\);/gm)].map(([, name]) => name);
    else codes[part] += path === "" ? code : `// ${path}\n${code}`;
  }
  const shared = codes.map((code, at) => sharedNames(code, codes.slice(at + 1)));
  return rooms.flatMap((room, at) => {
    const returned = [...shared[at], namespaces[at]];
    const script = putScript(join(outdir, `${room}.cjs`), codes[at], shared[at - 1] ?? [], returned);
    const exports = metafile.outputs[relativeOutput(metafile, room)].exports;
    return [script, putMarks(script), put(join(outdir, `${room}.js`), door(at, namespaces[at], exports))];
  });
}

/** Runs the library once, which saves the code caches of its scripts. */
export function warmLibrary() {
  if (!parts.every((room) => existsSync(join(root, entryOf(room))))) return;
  const { status } = spawnSync(runtime(), [join(root, "scripts", "warm-library.mjs")], {
    stdio: ["ignore", 2, 2],
  });
  if (status !== 0) throw new Error("the packed library does not work; see above");
}

const entryOf = (room) => `dist/${room}/index.js`;

const relativeOutput = ({ outputs }, room) =>
  Object.keys(outputs).find((path) => outputs[path].entryPoint === entryOf(room));

/** All modules that a module imports, directly or not, also on demand. */
function closureOf(inputs, entry) {
  const reached = new Set([entry]);
  for (const path of reached)
    for (const { path: to } of inputs[path].imports) if (inputs[to]) reached.add(to);
  return reached;
}

/** The parts and the doors copy the values of exports when they are loaded. */
function rejectChangingExports(paths) {
  for (const path of paths)
    if (/^export (let|var) /m.test(readFileSync(join(root, path), "utf8")))
      throw new Error(`${path}: exports a variable, whose changes other parts of the library would not see`);
}

/**
 * Turns dynamic imports of our own modules into static ones: esbuild would wrap such a module, and everything that it imports, in a
 * function that is called on demand.
 */
const staticImports = (inputs) => ({
  name: "static imports",
  setup: ({ onLoad }) =>
    onLoad({ filter: /[\\/]dist[\\/].*\.js$/ }, ({ path }) => {
      const imports = [];
      const contents = readFileSync(path, "utf8").replace(/\bimport\("(\.[^"]+)"\)/g, (whole, module) => {
        if (!inputs.includes(join(path, "..", module).slice(root.length + 1))) return whole;
        const name = `imported${imports.length}`;
        imports.push(`import * as ${name} from "${module}";`);
        return `Promise.resolve(${name})`;
      });
      return { contents: imports.join(" ") + contents, loader: "js" };
    }),
});

const declaration = /^(?:(?:async )?function\*? ?|class |var )([\w$]+)/gm;
const destructuring = /^var [{[]([^=]*)[}\]] = /gm;

/** The top-level names of a script that later ones use. esbuild indents everything that is not at the top level. */
function sharedNames(code, later) {
  // Not `object.name`, but `...name`.
  const used = new Set(later.flatMap((text) => text.match(/(?<![\w$])(?<![^.]\.)[A-Za-z_$][\w$]*/g)));
  const declared = [
    ...[...code.matchAll(declaration)].map(([, name]) => name),
    // `name` or `property: name`.
    ...[...code.matchAll(destructuring)].flatMap(([, names]) => names.match(/[\w$]+(?=\s*(?:,|$))/g) ?? []),
  ];
  return [...new Set(declared)].filter((name) => used.has(name));
}

function putScript(path, code, given, returned) {
  const parameters = ["require", "packedAt", ...(given.length > 0 ? [`{\n${given.join(",\n")}\n}`] : [])];
  const text = `"use strict"; (function (${parameters.join(", ")}) {\n${code}return { ${returned.join(", ")} };\n})\n`;
  const hash = createHash("sha256").update(text).digest("hex").slice(0, 16);
  return put(path, `// ${hash}\n${text}`);
}

const door = (at, namespace, exports) => `import { partOf } from "../../bin/packed-library.js";
export const { ${exports.join(", ")} } = partOf(import.meta.url, ${JSON.stringify(parts.slice(0, at + 1))}).${namespace};
`;
