// npm run bench [-- name]: runs bench/*.ts one after another on the pinned Node; each prints its own table.
import { build, fail, filesUnder, install, run, runtime } from "./setup.mjs";

const wanted = process.argv[2];
const files = filesUnder("bench", ".ts").filter(
  (file) =>
    /^bench\/[^/]+$/.test(file) &&
    !file.endsWith(".test.ts") &&
    (wanted === undefined || file.includes(wanted)),
);
if (files.length === 0)
  fail(wanted === undefined ? "There is no bench yet." : `No file in bench/ is called like "${wanted}".`);
await install();
if (!(await build()))
  console.error("The build failed: figures of the built programs are of what was there before.");
let good = true;
for (const file of files) {
  console.log(`\n== ${file}`);
  good = run(runtime(), ["--conditions=orch-source", "--expose-gc", file, ...process.argv.slice(3)]) && good;
}
process.exitCode = good ? 0 : 1;
