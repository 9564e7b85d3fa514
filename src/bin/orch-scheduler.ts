// The scheduler's program: read the flags, start, run until told to stop.
import { profileFrom, runScheduler } from "#scheduler";
import { clientProgram } from "./control/client-program.ts";
import { schedulerOptions } from "./control/control-options.ts";

process.exitCode = await clientProgram(
  process.argv.slice(2),
  schedulerOptions,
  ({ schedulerName, disabledPlugins: disabled }) => {
    const profiles = [profileFrom({ schedulerName, disabled })];
    return (parts) => runScheduler({ ...parts, profiles });
  },
);
