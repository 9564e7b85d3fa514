// The scheduler program: reads the flags and the configuration file, and runs until a stop is requested.
import { readFileSync } from "node:fs";
import type { Dialect } from "#dialect";
import { type SchedulerConfiguration, profileFrom, runScheduler, schedulerConfiguration } from "#scheduler";
import { clientProgram } from "./control/client-program.ts";
import { type SchedulerSettings, schedulerOptions } from "./control/control-options.ts";

let file: SchedulerConfiguration | undefined;

process.exitCode = await clientProgram(
  process.argv.slice(2),
  schedulerOptions,
  ({ schedulerName, disabledPlugins: disabled }) => {
    const profiles = file?.profiles ?? [profileFrom({ schedulerName, disabled })];
    return (parts) => runScheduler({ ...parts, profiles, ...(file && { backoff: file.backoff }) });
  },
  { withFile },
);

function withFile(settings: SchedulerSettings, dialect: Dialect): SchedulerSettings {
  if (settings.config === "") return settings;
  try {
    file = schedulerConfiguration(readFileSync(settings.config, "utf8"), dialect);
  } catch (error) {
    throw new Error(`${settings.config}: ${(error as Error).message}`, { cause: error });
  }
  const { leaderElection: election, clientConfig } = file;
  return {
    ...settings,
    orchconfig: clientConfig ?? settings.orchconfig,
    leaderElect: election.leaderElect ?? settings.leaderElect,
    leaderElectLeaseDuration: election.leaseMilliseconds ?? settings.leaderElectLeaseDuration,
    leaderElectRenewDeadline: election.renewMilliseconds ?? settings.leaderElectRenewDeadline,
    leaderElectRetryPeriod: election.retryMilliseconds ?? settings.leaderElectRetryPeriod,
    leaderElectResourceName: election.resourceName ?? settings.leaderElectResourceName,
    leaderElectResourceNamespace: election.resourceNamespace ?? settings.leaderElectResourceNamespace,
  };
}
