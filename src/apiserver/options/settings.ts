// Resolves the settings from command-line arguments and the configuration file they name.
import type { Dialect } from "#dialect";
import { type Settled, type Sources, readConfigFile, settle } from "#options";
import { type ApiserverSettings, apiserverOptions } from "./options.ts";

export type { ApiserverSettings };

export const settleFlags = (dialect: Dialect, argv: readonly string[]): Settled<ApiserverSettings> =>
  settle(apiserverOptions(dialect), argv);

/** Like settleFlags, with the file of `--config` applied below the flags. */
export async function settleApiserver(
  dialect: Dialect,
  argv: readonly string[],
  sources: Pick<Sources, "readable" | "purpose"> = {},
): Promise<Settled<ApiserverSettings>> {
  const set = apiserverOptions(dialect);
  const flags = settle(set, argv, sources);
  const { config } = flags.values;
  if (flags.requested || config === "") return flags;
  return settle(set, argv, { ...sources, files: [await readConfigFile(config)] });
}
