// Claim: an empty program that loads schema, options and every kind starts in under 150 ms; the launcher adds
// a few.
import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { median } from "./kit/figures.ts";

const root = join(import.meta.dirname, "..");
const cache = mkdtempSync(join(tmpdir(), "orch-cache-"));
const rounds = 15;
const imports = (...rooms: readonly string[]): string[] => [
  "--input-type=module",
  "-e",
  rooms
    .map((room) => `await import("${pathToFileURL(join(root, "dist", room, "index.js")).href}");`)
    .join(""),
];

const cases: [name: string, command: string, args: readonly string[], env?: Record<string, string>][] = [
  ["bare runtime", process.execPath, ["-e", ""]],
  ["schema and options", process.execPath, imports("schema", "options")],
  [
    "schema and options, modules cached",
    process.execPath,
    imports("schema", "options"),
    { NODE_COMPILE_CACHE: cache },
  ],
  ["every kind as well", process.execPath, imports("schema", "options", "api")],
  [
    "every kind as well, modules cached",
    process.execPath,
    imports("schema", "options", "api"),
    { NODE_COMPILE_CACHE: cache },
  ],
  ["bin/orch-apiserver --version", join(root, "bin", "orch-apiserver"), ["--version"]],
];

console.log(`${"start to end, ms".padEnd(38)} min  median`);
for (const [name, command, args, env] of cases) {
  const times: number[] = [];
  let failed = false;
  for (let round = 0; round < rounds; round++) {
    const began = performance.now();
    failed =
      spawnSync(command, args, { env: { ...process.env, ...env }, stdio: "ignore" }).status !== 0 || failed;
    times.push(performance.now() - began);
  }
  console.log(
    `${name.padEnd(38)} ${Math.min(...times)
      .toFixed(0)
      .padStart(3)}  ${median(times).toFixed(0).padStart(6)}${failed ? "  (failed)" : ""}`,
  );
}
rmSync(cache, { recursive: true, force: true });
