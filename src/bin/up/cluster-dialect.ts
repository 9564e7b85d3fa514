// The dialect of a cluster: from the command line, or else as recorded in the data directory by the last run.
import { chosenDialect, dialects } from "#dialect";
import { pathsFor } from "./paths.ts";
import { readRunning } from "./running.ts";

export function clusterDialect(
  argv: readonly string[],
  environment: Readonly<Record<string, string | undefined>> = process.env,
): ReturnType<typeof chosenDialect> {
  const choice = chosenDialect(argv);
  if ("problem" in choice || argv.some((word) => /^--dialect(=|$)/.test(word))) return choice;
  const recorded = [...new Set(Object.values(dialects))]
    .map((dialect) => readRunning(pathsFor(dialect, dataDirectoryIn(argv), environment).running)?.dialect)
    .find((name) => name !== undefined);
  return recorded === undefined ? choice : { dialect: dialects[recorded] };
}

function dataDirectoryIn(argv: readonly string[]): string {
  const at = argv.findLastIndex((word) => /^--data-dir(=|$)/.test(word));
  if (at < 0) return "";
  return argv[at]!.includes("=") ? argv[at]!.slice(argv[at]!.indexOf("=") + 1) : (argv[at + 1] ?? "");
}
