// `orch store`: backs up and restores the embedded store, reports its encryption and space usage, and writes stale
// objects again.
import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { apiClient, connectionOf, https, readClientConfig } from "#client";
import { type Dialect, dialects } from "#dialect";
import {
  type OptionSet,
  type OptionsOf,
  bool,
  dialectOption,
  helpOption,
  option,
  section,
  settle,
} from "#options";
import { type StoreSpace, backupStore, openStore, restoreStore, storeSpace, surveyEncryption } from "#store";
import type { Output } from "../output.ts";
import { clientConfigOption, dataDirOption, pathsFor } from "./paths.ts";
import { clusterDialect } from "./cluster-dialect.ts";
import { rewriteObjects } from "./rewrite-objects.ts";

const usageOf = (dialect: Dialect): string => `Usage:
  orch store backup FILE [--data-dir=DIR]      Back up the store to a new file; the cluster may be running.
  orch store restore FILE [--data-dir=DIR]     Create a store from a backup; it must not exist yet.
  orch store encryption [--data-dir=DIR]       Report encryption providers; the cluster may be running.
  orch store encryption --rewrite [--${dialect.spelling.flag("orchconfig")}=FILE] [--data-dir=DIR]
                                               Let the running server store all objects again that are
                                               not encrypted with the current key, then report.
  orch store stats [--data-dir=DIR]            Report space usage by resource; the cluster may be running.

DIR is the --data-dir of orch up or orch-apiserver. Without it, --dialect selects the cluster. FILE is a client
configuration that may update all objects (default: that of the administrator of orch up).
`;

const shownFailures = 20;

const rewriteOption = option({
  flag: "rewrite",
  type: bool,
  default: false,
  doc: "Store all objects again that are not encrypted with the current key.",
});

const sections = (dialect: Dialect) =>
  [
    section("Cluster", [
      dataDirOption,
      rewriteOption,
      clientConfigOption,
      dialectOption(dialect),
      helpOption,
    ]),
  ] as const;
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
  const usage = usageOf("problem" in choice ? dialects.orch : choice.dialect);
  const fail = (problem: string): number => {
    output.err(`error: ${problem}\n\n${usage}`);
    return 1;
  };
  if ("problem" in choice) return fail(choice.problem);
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
  if (errors.length > 0) return fail(errors.join("\nerror: "));
  const paths = pathsFor(choice.dialect, values.dataDir);
  const directory = join(paths.root, "store");
  if (values.rewrite && verb !== "encryption") return fail(`orch store ${verb} takes no --rewrite`);
  if (verb === "encryption") {
    if (file !== undefined) return fail("orch store encryption takes no file");
    const config = values.orchconfig || paths.adminConfig;
    const isComplete = !values.rewrite || (await rewrite(config, choice.dialect, output));
    // The objects may be in etcd.
    if (values.rewrite && !existsSync(directory)) return isComplete ? 0 : 1;
    const code = await encryptionReport(directory, choice.dialect, output);
    return isComplete ? code : 1;
  }
  if (verb === "stats") {
    if (file !== undefined) return fail("orch store stats takes no file");
    return await spaceReport(directory, output);
  }
  if (verb !== "backup" && verb !== "restore")
    return fail(`unknown command: orch store ${verb}; use backup, restore, encryption or stats`);
  if (file === undefined || more.length > 0) return fail(`orch store ${verb} takes one file`);
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

/** Rewrites all objects and reports whether that succeeded. */
async function rewrite(configFile: string, dialect: Dialect, { out, err }: Output): Promise<boolean> {
  let failures = 0;
  const failed = (what: string, why: string): void => {
    if (++failures <= shownFailures) err(`error: ${what}: ${why}\n`);
  };
  try {
    const transport = https(connectionOf(readClientConfig(configFile)));
    try {
      await rewriteObjects(apiClient(transport, dialect), {
        failed,
        done: (resource, objects, stale) => out(`${resource}: ${stale} of ${objects} objects stored again\n`),
      });
    } finally {
      transport.close();
    }
  } catch (error) {
    failed(configFile, (error as Error).message);
  }
  if (failures > shownFailures)
    err(`error: ${failures - shownFailures} more objects could not be stored again\n`);
  return failures === 0;
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
