// `orch ui`: prints a new one-time link to the web page of a running cluster.
import { connectionOf, readClientConfig } from "#client";
import type { Dialect } from "#dialect";
import {
  type OptionSet,
  type OptionsOf,
  above,
  dialectOption,
  duration,
  helpOption,
  option,
  section,
} from "#options";
import type { Output } from "../output.ts";
import { clusterCommand } from "./cluster-command.ts";
import { dataDirOption, pathsFor } from "./paths.ts";
import { readRunning } from "./running.ts";
import { linkMilliseconds, makeUiLink } from "./ui-link.ts";

const sections = (dialect: Dialect) =>
  [
    section("Link", [
      option({
        flag: "ttl",
        type: duration,
        default: linkMilliseconds,
        check: above(0),
        doc: "Validity of the link.",
      }),
      dataDirOption,
      dialectOption(dialect),
      helpOption,
    ]),
  ] as const;
type UiOption = OptionsOf<ReturnType<typeof sections>>;
const uiOptions = (dialect: Dialect): OptionSet<UiOption> => ({
  program: "orch ui",
  summary: "Prints a one-time link that signs the administrator in to the web page of the cluster.",
  dialect,
  sections: sections(dialect),
  checks: [],
});

export const uiCommand = (argv: readonly string[], output: Output): Promise<number> =>
  clusterCommand(uiOptions, argv, output, ({ dialect, settings }) => {
    const paths = pathsFor(dialect, settings.dataDir);
    if (!readRunning(paths.running)?.up)
      throw new Error("this cluster is not running; start it with orch up");
    const { server } = connectionOf(readClientConfig(paths.adminConfig));
    output.out(`${makeUiLink(paths, server, { now: Date.now(), milliseconds: settings.ttl })}\n`);
    return Promise.resolve(0);
  });
