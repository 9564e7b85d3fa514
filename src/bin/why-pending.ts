// `orch why-pending POD`: why a pod has no node yet.
import { silentLog, systemClock } from "#base";
import { apiClient, connectionOf, https, readClientConfig } from "#client";
import { type Dialect, chosenDialect } from "#dialect";
import {
  type OptionSet,
  type OptionsOf,
  answerOperator,
  dialectOption,
  file,
  helpOption,
  option,
  section,
  settle,
  terminalWidth,
  text,
} from "#options";
import { type Explanation, explainPod } from "#scheduler";
import type { Output } from "./output.ts";
import { dataDirOption, pathsFor } from "./up/paths.ts";

const sections = (dialect: Dialect) =>
  [
    section("Cluster", [
      option({
        flag: "orchconfig",
        type: file,
        default: "",
        defaultText: "that of the administrator of orch up",
        doc: "Client configuration file.",
      }),
      option({ flag: "namespace", type: text, default: "default", doc: "Namespace of the pod." }),
      dataDirOption,
      dialectOption(dialect),
      helpOption,
    ]),
  ] as const;
type WhyOption = OptionsOf<ReturnType<typeof sections>>;
const whyOptions = (dialect: Dialect): OptionSet<WhyOption> => ({
  program: "orch why-pending",
  summary: "Tells why a pod has no node yet: every reason of every node.",
  dialect,
  sections: sections(dialect),
  checks: [],
});

export async function whyPendingCommand(
  argv: readonly string[],
  version: string,
  output: Output,
): Promise<number> {
  const choice = chosenDialect(argv);
  if ("problem" in choice) {
    output.err(`error: ${choice.problem}\n`);
    return 1;
  }
  const { dialect } = choice;
  const flags = argv.filter((each) => each.startsWith("-"));
  const [name, ...more] = argv.filter((each) => !each.startsWith("-"));
  const settled = settle(whyOptions(dialect), flags);
  const answered = answerOperator(whyOptions(dialect), settled, {
    version,
    width: terminalWidth(process.env, process.stdout.columns),
    ...output,
  });
  if (answered !== undefined) return answered;
  if (name === undefined || more.length > 0) {
    output.err("error: name one pod, and give flags as --flag=value\n");
    return 1;
  }
  const { orchconfig, namespace, dataDir } = settled.values;
  try {
    const config = readClientConfig(orchconfig || pathsFor(dialect, dataDir).adminConfig);
    const transport = https(connectionOf(config));
    const client = apiClient(transport, dialect);
    const found = await explainPod({ client, clock: systemClock, log: silentLog }, namespace, name);
    transport.close();
    output.out(explanationText(`${namespace}/${name}`, found));
    return found.is === "absent" ? 1 : 0;
  } catch (error) {
    output.err(`error: ${(error as Error).message}\n`);
    return 1;
  }
}

export function explanationText(pod: string, found: Explanation): string {
  if (found.is === "absent") return `There is no pod ${pod}.\n`;
  if (found.is === "placed") return `Pod ${pod} is on node ${found.node}.\n`;
  if (found.is === "gated")
    return `Pod ${pod} is held back by scheduling gates: ${found.gates.join(", ")}.\n`;
  const lines = [`Pod ${pod} has no node.`];
  for (const reason of found.forAll) lines.push(`  every node: ${reason}`);
  for (const [node, reasons] of found.byNode)
    lines.push(`  ${node}: ${reasons.length === 0 ? "would take it" : reasons.join("; ")}`);
  if (found.byNode.size === 0) lines.push("  There are no nodes.");
  if (found.message !== undefined) lines.push(`The scheduler said: ${found.message}`);
  return `${lines.join("\n")}\n`;
}
