// `orch store`: the embedded store's content as one file, and back.
import { join, resolve } from "node:path";
import { type Dialect, chosenDialect } from "#dialect";
import { backupStore, restoreStore } from "#store";
import { placesFor } from "./places.ts";
import type { Output } from "./up.ts";

const usage = `Usage:
  orch store backup FILE [--data-dir=DIR]      Write everything the store holds to a new file; the cluster may be up.
  orch store restore FILE [--data-dir=DIR]     Make a store from such a file; there must be none yet.

DIR is what orch up was given, or the --data-dir of orch-apiserver. --dialect says which cluster is meant without it.
`;

export async function storeCommand(argv: readonly string[], output: Output): Promise<number> {
  const choice = chosenDialect(argv);
  const flags = argv.filter((word) => word.startsWith("-"));
  const [verb, file, ...more] = argv.filter((word) => !word.startsWith("-"));
  if (verb === undefined || verb === "help" || flags.includes("--help") || flags.includes("-h")) {
    (verb === undefined && flags.length === 0 ? output.err : output.out)(usage);
    return verb === undefined && flags.length === 0 ? 1 : 0;
  }
  const unknown = flags.find((flag) => !/^--(data-dir|dialect)=./.test(flag));
  const problem =
    "problem" in choice
      ? choice.problem
      : unknown !== undefined
        ? `${unknown}: there is no such flag`
        : file === undefined || more.length > 0
          ? `orch store ${verb} takes one file`
          : undefined;
  if (problem !== undefined) {
    output.err(`error: ${problem}\n\n${usage}`);
    return 1;
  }
  const directory = storeOf((choice as { dialect: Dialect }).dialect, flags);
  try {
    if (verb === "backup") await backupStore(directory, resolve(file!));
    else if (verb === "restore") await restoreStore(resolve(file!), directory);
    else throw new Error(`there is no orch store ${verb}; there are backup and restore`);
  } catch (error) {
    output.err(`error: ${(error as Error).message}\n`);
    return 1;
  }
  output.out(verb === "backup" ? `${file} holds everything in ${directory}\n` : `${directory} holds everything in ${file}\n`);
  return 0;
}

function storeOf(dialect: Dialect, flags: readonly string[]): string {
  const given = flags.find((flag) => flag.startsWith("--data-dir="))?.slice("--data-dir=".length) ?? "";
  return join(placesFor(dialect, given).root, "store");
}
