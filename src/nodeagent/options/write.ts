// --write-config-to: writes the effective configuration to a file or standard output.

import { writeFile } from "node:fs/promises";
import type { Dialect } from "#dialect";
import { configOf, configText } from "#options";
import { type NodeagentSettings, nodeagentOptions } from "./options.ts";

/** Writes JSON if the name ends in .json, otherwise YAML; `-` writes to `out`. */
export async function writeNodeagentConfig(
  dialect: Dialect,
  settings: NodeagentSettings,
  out: (text: string) => void,
): Promise<void> {
  const target = settings.writeConfigTo;
  const text = await configText(
    configOf(nodeagentOptions(dialect), settings),
    target.endsWith(".json") ? "json" : "yaml",
  );
  if (target === "-") out(text);
  else await writeFile(target, text, { mode: 0o600 });
}
