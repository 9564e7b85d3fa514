// --write-config-to: the settled configuration as a file, or on standard output.

import { writeFile } from "node:fs/promises";
import type { Dialect } from "#dialect";
import { configOf, configText } from "#options";
import { type NodeagentSettings, nodeagentOptions } from "./options.ts";

/** JSON for a name that ends in .json, YAML for any other; `-` goes to `out`. */
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
