// The command that starts a program of this package in tests: as built, or from its source where that is
// newer than the build.
import { existsSync, readdirSync, statSync } from "node:fs";
import { join } from "node:path";

const root = join(import.meta.dirname, "..", "..");

/** The command line up to the flags. */
export function programCommand(name: string): readonly string[] {
  return isFresh()
    ? [join(root, "bin", name)]
    : [process.execPath, "--conditions=orch-source", join(root, "src", "bin", `${name}.ts`)];
}

let fresh: boolean | undefined;
function isFresh(): boolean {
  fresh ??= looksFresh();
  return fresh;
}

function looksFresh(): boolean {
  const stamp = join(root, "dist", ".stamp");
  if (!existsSync(stamp)) return false;
  const built = statSync(stamp).mtimeMs;
  return readdirSync(join(root, "src"), { recursive: true, withFileTypes: true })
    .filter(
      (entry) =>
        entry.isFile() && entry.name.endsWith(".ts") && !/\.(test|contract|fixture)\.ts$/.test(entry.name),
    )
    .every((entry) => statSync(join(entry.parentPath, entry.name)).mtimeMs <= built);
}
