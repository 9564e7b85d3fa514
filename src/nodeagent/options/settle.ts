// Computes the agent's settings from its command line and the files named by flags.

import { readdir } from "node:fs/promises";
import { join } from "node:path";
import type { Dialect } from "#dialect";
import { type ConfigFile, type Settled, type Sources, readConfigFile, settle } from "#options";
import { type NodeagentSettings, nodeagentOptions } from "./options.ts";

export async function settleNodeagent(
  dialect: Dialect,
  argv: readonly string[],
  sources: Pick<Sources, "readable" | "purpose"> = {},
): Promise<Settled<NodeagentSettings>> {
  const set = nodeagentOptions(dialect);
  const named = settle(set, argv, { ...sources, purpose: "look" });
  if (named.requested) return named;
  const { config, configDir, writeConfigTo } = named.values;
  const files = [
    ...(config ? [await readConfigFile(config)] : []),
    ...(configDir ? await dropIns(configDir) : []),
  ];
  return settle(set, argv, {
    ...sources,
    files,
    purpose: sources.purpose ?? (writeConfigTo ? "look" : "start"),
  });
}

/** Reads the files of a directory in order of their names; hidden files and other extensions are ignored. */
async function dropIns(directory: string): Promise<ConfigFile[]> {
  try {
    const names = (await readdir(directory))
      .filter((name) => !name.startsWith(".") && /\.(conf|ya?ml|json)$/.test(name))
      .toSorted();
    return await Promise.all(names.map((name) => readConfigFile(join(directory, name))));
  } catch (error) {
    return [
      {
        path: directory,
        problems: [
          `${directory}: cannot read the directory of --config-dir: ${(error as { code?: string }).code === "ENOENT" ? "there is no such directory" : (error as Error).message}`,
        ],
        strictErrors: [],
      },
    ];
  }
}
