// `orch store`: backs up and restores the embedded store, and reports its encryption and space usage.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import type { Dialect } from "#dialect";
import { type OptionSet, type OptionsOf, dialectOption, helpOption, section, settle } from "#options";
import { type StoreSpace, backupStore, openStore, restoreStore, storeSpace, surveyEncryption } from "#store";
import type { Output } from "../output.ts";
import { dataDirOption, pathsFor } from "./paths.ts";
import { clusterDialect } from "./cluster-dialect.ts";

const usage = `Usage:
  orch store backup FILE [--data-dir=DIR]      Back up the store to a new file; the cluster may be running.
  orch store restore FILE [--data-dir=DIR]     Create a store from a backup; it must not exist yet.
  orch store encryption [--data-dir=DIR]       Report encryption providers; the cluster may be running.
  orch store stats [--data-dir=DIR]            Report space usage by resource; the cluster may be running.

DIR is the --data-dir of orch up or orch-apiserver. Without it, --dialect selects the cluster.
`;

const sections = (dialect: Dialect) =>
  [section("Cluster", [dataDirOption, dialectOption(dialect), helpOption])] as const;
const storeOptions = (dialect: Dialect): OptionSet<OptionsOf<ReturnType<typeof sections>>> => ({
  program: "orch store",
  summary: "Backs up and restores the embedded store.",
  dialect,
  sections: sections(dialect),
  checks: [],
  takesArguments: true,
});

export async function storeCommand(argv: readonly string[], output: Output): Promise<number> {
  const choice = clusterDialect(argv);
  if ("problem" in choice) return fail(choice.problem, output);
  const { values, errors, args, requested } = settle(storeOptions(choice.dialect), argv);
  const [verb, file, ...more] = args;
  if (requested || verb === "help") {
    output.out(usage);
    return 0;
  }
  if (verb === undefined && errors.length === 0) {
    output.err(usage);
    return 1;
  }
  if (errors.length > 0) return fail(errors.join("\nerror: "), output);
  const directory = join(pathsFor(choice.dialect, values.dataDir).root, "store");
  if (verb === "encryption") {
    if (file !== undefined) return fail("orch store encryption takes no file", output);
    return await encryptionReport(directory, choice.dialect, output);
  }
  if (verb === "stats") {
    if (file !== undefined) return fail("orch store stats takes no file", output);
    return await spaceReport(directory, output);
  }
  if (verb !== "backup" && verb !== "restore")
    return fail(`unknown command: orch store ${verb}; use backup, restore, encryption or stats`, output);
  if (file === undefined || more.length > 0) return fail(`orch store ${verb} takes one file`, output);
  try {
    if (verb === "backup") await backupStore(directory, resolve(file));
    else await restoreStore(resolve(file), directory);
  } catch (error) {
    output.err(`error: ${(error as Error).message}\n`);
    return 1;
  }
  output.out(
    verb === "backup"
      ? `${file} holds everything in ${directory}\n`
      : `${directory} holds everything in ${file}\n`,
  );
  return 0;
}

/** Reports on a copy, so that a running server is not disturbed. */
async function encryptionReport(directory: string, dialect: Dialect, output: Output): Promise<number> {
  const folder = mkdtempSync(join(tmpdir(), "orch-store-"));
  try {
    await backupStore(directory, join(folder, "copy"));
    await restoreStore(join(folder, "copy"), join(folder, "store"));
    const store = await openStore({ dir: join(folder, "store") });
    const counts = await surveyEncryption(store, "/registry", dialect.names.encryptionMarkers);
    await store.close();
    output.out("values  provider  resource\n");
    for (const { values, provider, resource } of counts)
      output.out(`${String(values).padStart(6)}  ${provider}  ${resource}\n`);
    return 0;
  } catch (error) {
    output.err(`error: ${(error as Error).message}\n`);
    return 1;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

async function spaceReport(directory: string, output: Output): Promise<number> {
  let space: StoreSpace;
  try {
    space = await storeSpace(directory);
  } catch (error) {
    output.err(`error: ${(error as Error).message}\n`);
    return 1;
  }
  const count = (number: number): string => number.toLocaleString("en");
  const rows = [
    ["resource", "objects", "bytes", "largest", "old versions", "bytes"],
    ...space.resources.map(({ resource, objects, bytes, largestBytes, oldVersions, oldBytes }) => [
      resource,
      ...[objects, bytes, largestBytes, oldVersions, oldBytes].map(count),
    ]),
  ];
  const widths = rows[0]!.map((_, column) => Math.max(...rows.map((row) => row[column]!.length)));
  const line = (row: readonly string[]): string =>
    row
      .map((cell, at) => (at === 0 ? cell.padEnd(widths[at]!) : cell.padStart(widths[at]!)))
      .join("  ")
      .trimEnd();
  output.out(`${rows.map(line).join("\n")}\n\n`);
  output.out(
    `database ${count(space.fileBytes)} bytes, ${count(space.freeBytes)} of them reusable; ` +
      `write-ahead log ${count(space.logBytes)} bytes\n`,
  );
  return 0;
}

function fail(problem: string, output: Output): number {
  output.err(`error: ${problem}\n\n${usage}`);
  return 1;
}
