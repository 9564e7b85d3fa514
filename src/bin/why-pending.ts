// `orch why-pending POD`: explains why a pod is not scheduled.
import { silentLog, systemClock } from "#base";
import { apiClient, connectionOf, https, readClientConfig } from "#client";
import type { Dialect } from "#dialect";
import { type OptionSet, type OptionsOf, dialectOption, helpOption, option, section, text } from "#options";
import { type Explanation, explainPod } from "#scheduler";
import { type Output, plain } from "./output.ts";
import { clusterCommand } from "./up/cluster-command.ts";
import { clientConfigOption, dataDirOption, pathsFor } from "./up/paths.ts";

const sections = (dialect: Dialect) =>
  [
    section("Cluster", [
      clientConfigOption,
      option({ flag: "namespace", type: text, default: "default", doc: "Namespace of the pod." }),
      dataDirOption,
      dialectOption(dialect),
      helpOption,
    ]),
  ] as const;
type WhyOption = OptionsOf<ReturnType<typeof sections>>;
const whyOptions = (dialect: Dialect): OptionSet<WhyOption> => ({
  program: "orch why-pending",
  summary: "Explains why a pod is not scheduled: all reasons of all nodes.",
  dialect,
  sections: sections(dialect),
  checks: [],
  takesArguments: true,
});

export const whyPendingCommand = (argv: readonly string[], output: Output): Promise<number> =>
  clusterCommand(whyOptions, argv, output, async ({ dialect, settings, words }) => {
    const [name, ...more] = words;
    if (name === undefined || more.length > 0) throw new Error("specify one pod");
    const { orchconfig, namespace, dataDir } = settings;
    const config = readClientConfig(orchconfig || pathsFor(dialect, dataDir).adminConfig);
    const transport = https(connectionOf(config));
    try {
      const client = apiClient(transport, dialect);
      const found = await explainPod({ client, clock: systemClock, log: silentLog }, namespace, name);
      output.out(explanationText(`${namespace}/${name}`, found));
      return found.state === "absent" ? 1 : 0;
    } finally {
      transport.close();
    }
  });

export function explanationText(pod: string, found: Explanation): string {
  return `${explanationLines(pod, found).map(plain).join("\n")}\n`;
}

function explanationLines(pod: string, found: Explanation): string[] {
  if (found.state === "absent") return [`There is no pod ${pod}.`];
  if (found.state === "placed") return [`Pod ${pod} is on node ${found.node}.`];
  if (found.state === "gated")
    return [`Pod ${pod} is held back by scheduling gates: ${found.gates.join(", ")}.`];
  const lines = [`Pod ${pod} is not scheduled.`];
  for (const reason of found.forAll) lines.push(`  every node: ${reason}`);
  for (const [node, reasons] of found.byNode)
    lines.push(`  ${node}: ${reasons.length === 0 ? "fits" : reasons.join("; ")}`);
  if (found.byNode.size === 0) lines.push("  There are no nodes.");
  if (found.message !== undefined) lines.push(`Last message of the scheduler: ${found.message}`);
  return lines;
}
