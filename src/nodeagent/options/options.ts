// All settings of the node agent: flags, and the fields of its configuration file.

import { type Dialect, apiVersionOf, dialects } from "#dialect";
import { type OptionSet, type OptionsOf, type SettingsOf, knownGates } from "#options";
import { agentGates } from "./acting-gates.ts";
import { cadvisorSection } from "./cadvisor.ts";
import { nodeagentChecks } from "./checks.ts";
import { networkSection, shutdownSection } from "./cluster.ts";
import { evictionSection } from "./eviction.ts";
import { identitySection } from "./identity.ts";
import { loggingSection } from "./logging.ts";
import { podsSection } from "./pods.ts";
import { resourcesSection } from "./resources.ts";
import { authenticationSection, servingSection } from "./serving.ts";

const sections = (dialect: Dialect) =>
  [
    identitySection(dialect),
    servingSection(dialect),
    authenticationSection(dialect),
    podsSection(dialect),
    resourcesSection(dialect),
    evictionSection(dialect),
    networkSection(dialect),
    shutdownSection(),
    cadvisorSection(dialect),
    loggingSection(dialect),
  ] as const;

type NodeagentOption = OptionsOf<ReturnType<typeof sections>>;
/**
 * One typed value per setting, under the flag's name in camel case, or the field's if there is no flag.
 * Durations are in milliseconds.
 */
export type NodeagentSettings = SettingsOf<NodeagentOption>;

/**
 * Returns group and kind of the configuration file, in the dialect's spelling and, if that differs, also in
 * the original one.
 */
function fileKinds(dialect: Dialect): { apiVersion: string; kind: string }[] {
  const group = { group: "nodeagent.config", branded: true, version: "v1beta1" };
  return [...new Set([dialect, dialects.orch])].map((spoken) => ({
    apiVersion: apiVersionOf(spoken, group),
    kind: spoken.spelling.word("NodeAgentConfiguration"),
  }));
}

export const nodeagentOptions = (dialect: Dialect): OptionSet<NodeagentOption> => ({
  program: "nodeagent",
  summary: "The node agent: runs the pods of one node and reconciles them with their specs.",
  dialect,
  sections: sections(dialect),
  checks: nodeagentChecks,
  gates: knownGates,
  effectiveGates: () => agentGates,
  file: fileKinds(dialect),
  ignoresStrictErrors: true,
  retired: {
    "container-runtime": "only remote runtimes exist; use --container-runtime-endpoint",
    "dynamic-config-dir": "use --config and --config-dir",
    "network-plugin": "the container runtime sets up networks",
    "cni-bin-dir": "the container runtime sets up networks",
    "cni-conf-dir": "the container runtime sets up networks",
  },
});
