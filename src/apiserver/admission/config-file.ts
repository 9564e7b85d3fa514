// The file of --admission-control-config-file: for each plug-in its configuration, in the file itself or in a
// file of its own.
import { readFileSync } from "node:fs";
import { dirname, resolve } from "node:path";
import { type Dialect, groupName } from "#dialect";
import { parseYaml } from "#schema";
import { type Fields, checkKind, fieldsOf, itemsOf, textOf, wrong } from "./config-reader.ts";

export interface PluginConfigs {
  /**
   * Reads the configuration of a plug-in, given as undefined where there is none. What is wrong is thrown with
   * the plug-in and the file.
   */
  read<T>(plugin: string, parse: (config: Fields | undefined) => T): T;
}

export const noConfigs: PluginConfigs = { read: (_plugin, parse) => parse(undefined) };

/** Reads the file; those it names are read with it. */
export function readPluginConfigs(file: string, dialect: Dialect): PluginConfigs {
  const versionsOf = (group: string, ...versions: readonly string[]): string[] =>
    versions.map((each) => `${groupName(dialect, { group, branded: true })}/${each} AdmissionConfiguration`);
  const known = new Map<string, { readonly source: string; readonly config: Fields | undefined }>();
  try {
    const root = documentOf(readFileSync(file, "utf8"));
    checkKind(root, [
      ...versionsOf("apiserver.config", "v1", "v1alpha1"),
      ...versionsOf("apiserver", "v1alpha1"),
    ]);
    itemsOf(root["plugins"], "plugins").forEach((item, at) => {
      const path = `plugins[${at}]`;
      const { name, path: named, configuration } = fieldsOf(item, path);
      const plugin = textOf(name, `${path}.name`);
      if (plugin === "") throw wrong(`${path}.name`, "must be given");
      const beside = textOf(named, `${path}.path`);
      if (configuration !== undefined && configuration !== null)
        known.set(plugin, { source: file, config: fieldsOf(configuration, `${path}.configuration`) });
      else if (beside !== "") {
        const source = resolve(dirname(resolve(file)), beside);
        known.set(plugin, { source, config: documentOf(readFileSync(source, "utf8")) });
      } else known.set(plugin, { source: file, config: undefined });
    });
  } catch (error) {
    throw new Error(`${file}: ${(error as Error).message}`, { cause: error });
  }
  return {
    read: (plugin, parse) => {
      const { source = file, config } = known.get(plugin) ?? {};
      try {
        return parse(config);
      } catch (error) {
        throw new Error(`${source}: ${plugin}: ${(error as Error).message}`, { cause: error });
      }
    },
  };
}

function documentOf(text: string): Fields {
  const { value } = parseYaml(text);
  if (value === null) throw wrong("", "it is empty");
  return fieldsOf(value, "");
}
