// Writes the --help texts per program and dialect next to the packed programs, so that the launcher prints them
// without loading a program.
import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { root, runtime } from "./setup.mjs";

const programs = [
  "orch-apiserver",
  "nodeagent",
  "orch-controller-manager",
  "orch-scheduler",
  "orch-proxy",
  "orch-dns",
  "orch-network",
];
const dialects = ["orch", "kubernetes"];

export function writeHelpTexts() {
  const folder = join(root, "dist", "help");
  mkdirSync(folder, { recursive: true });
  for (const program of programs) {
    const file = join(root, "dist", "pack", `${program}.js`);
    if (!existsSync(file)) continue;
    for (const dialect of dialects) {
      const { COLUMNS: _, ...env } = process.env;
      const text = execFileSync(runtime(), [file, `--dialect=${dialect}`, "--help"], {
        env,
        stdio: ["ignore", "pipe", "inherit"],
      });
      const target = join(folder, `${program}.${dialect}.txt`);
      writeFileSync(`${target}.new`, text);
      renameSync(`${target}.new`, target);
    }
  }
}
