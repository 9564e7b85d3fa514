// The settled flags, from an argument list or from a partial record.
import type { Dialect } from "#dialect";
import { type Settled, settle } from "#options";
import { type ApiserverSettings, apiserverOptions } from "./options.ts";

export type { ApiserverSettings };

export const settleFlags = (dialect: Dialect, argv: readonly string[]): Settled<ApiserverSettings> =>
  settle(apiserverOptions(dialect), argv);
