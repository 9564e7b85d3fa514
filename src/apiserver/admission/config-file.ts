// The file of --admission-control-config-file: the configuration of each plug-in, inline or in a separate
// file.
import { readFileSync } from "node:fs";
import { dirname, resolve } from "node:path";
import { fileErrorText } from "#base";
import { type Dialect, groupName } from "#dialect";
import { parseYaml } from "#schema";
import { type Fields, InitializationError, checkKind, fieldsOf, itemsOf, textOf } from "./config-reader.ts";

export interface PluginConfigs {
  /**
   * Parses the configuration of a plug-in; `parse` receives undefined if the file has none. Errors are
   * rethrown with the plug-in's name.
   */
  read<T>(plugin: string, parse: (config: Fields | undefined) => T): T;
}

export const noConfigs: PluginConfigs = {
  read: (plugin, parse) => initialized(plugin, () => parse(undefined)),
};

/** Reads the file and the plug-in configuration files it references. */
export function readPluginConfigs(file: string, dialect: Dialect): PluginConfigs {
  const versionsOf = (group: string, ...versions: readonly string[]): string[] =>
    versions.map((each) => `${groupName(dialect, { group, branded: true })}/${each} AdmissionConfiguration`);
  const known = new Map<string, Fields | undefined>();
  try {
    const text = readFileSync(file, "utf8");
    const root = fieldsOf(parseYaml(text).value, "");
    const kinds = [
      ...versionsOf("apiserver.config", "v1", "v1alpha1"),
      ...versionsOf("apiserver", "v1alpha1"),
    ];
    checkKind(root, kinds, text);
    itemsOf(root["plugins"], "plugins").forEach((item, at) => {
      const path = `plugins[${at}]`;
      const { name, path: named, configuration } = fieldsOf(item, path);
      const plugin = textOf(name, `${path}.name`);
      const configPath = textOf(named, `${path}.path`);
      if (configuration !== undefined && configuration !== null)
        known.set(plugin, fieldsOf(configuration, `${path}.configuration`));
      else
        known.set(
          plugin,
          configPath === "" ? undefined : readConfigFile(resolve(dirname(resolve(file)), configPath)),
        );
    });
  } catch (error) {
    throw new Error(
      `failed to initialize admission: failed to read plugin config: ${fileErrorText(error, file)}`,
      { cause: error },
    );
  }
  return { read: (plugin, parse) => initialized(plugin, () => parse(known.get(plugin))) };
}

/** Wraps errors with the plug-in's name, worded as kube-apiserver does. */
function initialized<T>(plugin: string, parse: () => T): T {
  try {
    return parse();
  } catch (error) {
    const failed = error instanceof InitializationError ? "failed to initialize" : "couldn't init";
    throw new Error(
      `failed to initialize admission: ${failed} admission plugin ${JSON.stringify(plugin)}: ${(error as Error).message}`,
      { cause: error },
    );
  }
}

function readConfigFile(file: string): Fields {
  let text: string;
  try {
    text = readFileSync(file, "utf8");
  } catch (error) {
    throw new Error(`Couldn't open admission plugin configuration ${fileErrorText(error, file)}`, {
      cause: error,
    });
  }
  return fieldsOf(parseYaml(text).value, "");
}
