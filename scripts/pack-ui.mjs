// Builds the page of src/ui into a few precompressed static files with content hashes in their names.
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { brotliCompressSync, constants } from "node:zlib";
import { root } from "./setup.mjs";

const source = join(root, "src", "ui");

/** Returns the paths of the files it wrote. */
export async function packUi(outdir) {
  if (!existsSync(join(source, "main.tsx"))) return [];
  const { build } = await import("esbuild");
  const { outputFiles } = await build({
    absWorkingDir: root,
    entryPoints: [join(source, "main.tsx")],
    outdir,
    entryNames: "app",
    bundle: true,
    minify: true,
    platform: "browser",
    target: "es2022",
    format: "esm",
    jsx: "automatic",
    jsxImportSource: "preact",
    tsconfigRaw: {},
    define: { timelinePath: JSON.stringify(`/apis/${await timelineGroup()}/v1`) },
    legalComments: "none",
    logLevel: "warning",
    write: false,
  });
  const bytesOf = (suffix) => outputFiles.find(({ path }) => path.endsWith(suffix)).contents;
  const files = {
    "app.js": bytesOf(".js"),
    "app.css": bytesOf(".css"),
    "icon.svg": readFileSync(join(source, "icon.svg")),
  };
  let page = readFileSync(join(source, "index.html"), "utf8");
  const named = Object.entries(files).map(([name, bytes]) => {
    const hash = createHash("sha256").update(bytes).digest("hex").slice(0, 10);
    const hashed = name.replace(".", `-${hash}.`);
    page = page.replaceAll(`./${name}`, hashed);
    return [hashed, bytes];
  });
  mkdirSync(outdir, { recursive: true });
  return [...named, ["index.html", Buffer.from(page)]].flatMap(([name, bytes]) => [
    write(join(outdir, name), bytes),
    write(join(outdir, `${name}.br`), compressed(bytes)),
  ]);
}

/** Product names come from src/dialect only. */
async function timelineGroup() {
  return (await import("#dialect")).timelineGroup;
}

const compressed = (bytes) =>
  brotliCompressSync(bytes, { params: { [constants.BROTLI_PARAM_QUALITY]: constants.BROTLI_MAX_QUALITY } });

// Renamed into place, so that a concurrent reader gets either the old file or the new one.
function write(path, bytes) {
  writeFileSync(`${path}.new`, bytes);
  renameSync(`${path}.new`, path);
  return path;
}
