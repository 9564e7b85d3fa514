// The settled settings, from an argument list and the configuration file that it names.
import type { Dialect } from "#dialect";
import { type Settled, type Sources, readConfigFile, settle } from "#options";
import { type ApiserverSettings, apiserverOptions } from "./options.ts";

export type { ApiserverSettings };

export const settleFlags = (dialect: Dialect, argv: readonly string[]): Settled<ApiserverSettings> =>
  settle(apiserverOptions(dialect), argv);

/** The same with the file of `--config` below the flags. */
export async function settleApiserver(
  dialect: Dialect,
  argv: readonly string[],
  sources: Pick<Sources, "readable" | "purpose"> = {},
): Promise<Settled<ApiserverSettings>> {
  const set = apiserverOptions(dialect);
  const flags = settle(set, argv, sources);
  const { config } = flags.values;
  if (flags.asked || config === "") return flags;
  return settle(set, argv, { ...sources, files: [await readConfigFile(config)] });
}
