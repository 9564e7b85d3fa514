// Requirements of a test on the machine. `npm test` installs them where it may; where one is missing the test
// is skipped, with the reason.
import { existsSync, readFileSync } from "node:fs";
import { delimiter, join } from "node:path";

const packages = JSON.parse(
  readFileSync(new URL("../../scripts/system-packages.json", import.meta.url), "utf8"),
) as Record<string, string[]>;
const folders = [...(process.env["PATH"] ?? "").split(delimiter), "/usr/sbin", "/sbin"];

/** Returns the path of a program, if it is installed. */
export function programPath(program: string): string | undefined {
  if (program.startsWith("/")) return existsSync(program) ? program : undefined;
  return folders.map((folder) => join(folder, program)).find((path) => existsSync(path));
}

/** Returns test options: `test("…", needs("etcd"), () => …)`. The word "root" requires the superuser. */
export function needs(...wanted: readonly string[]): { skip: string | false } {
  const missing = wanted.flatMap((name) => {
    if (name === "root") return process.getuid?.() === 0 ? [] : ["must run as root"];
    if (programPath(name)) return [];
    const from = Object.keys(packages).find((candidate) => packages[candidate]!.includes(name));
    return [`${name} is not installed${from ? ` (package ${from})` : ""}`];
  });
  return { skip: missing.length > 0 && missing.join(", ") };
}
