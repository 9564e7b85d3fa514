// Converts the tree of a configuration file to option values; errors have file, line and path.

import { type ConfigFile, type ConfigNode, nodeWithin, nodeWithout, plainOf } from "./config-file.ts";
import { hint } from "./nearest.ts";
import type { AnyOption, OptionSet } from "./option.ts";
import { listed } from "./option-type.ts";
import { Refusal, UnknownField } from "./refusal.ts";

export interface FileValue {
  readonly option: AnyOption;
  readonly value: unknown;
  readonly file: string;
  readonly line: number;
  /** The path in the spelling of the file. */
  readonly path: string;
}
export interface FileReading {
  readonly values: readonly FileValue[];
  readonly problems: readonly string[];
  /** Ignored input: unknown fields, and all but the last of duplicate fields. */
  readonly strictErrors: readonly string[];
  /** Options whose value in the file is invalid. */
  readonly failed: readonly AnyOption[];
}

export function readValues(set: OptionSet, file: ConfigFile): FileReading {
  const problems = [...file.problems];
  const strictErrors = [...file.strictErrors];
  const values: FileValue[] = [];
  const failed: AnyOption[] = [];
  if (!file.root || file.root.is !== "map") return { values, problems, strictErrors, failed };
  problems.push(...kindProblems(set, file.path, file.root));

  const { leaves, parents } = pathsOf(set);
  const walk = (node: ConfigNode, prefix: string): void => {
    if (node.is === "scalar" && node.value === null) return;
    if (node.is !== "map") {
      problems.push(`${file.path}:${node.line}: ${prefix}: must be a mapping`);
      return;
    }
    for (const { key, line, value } of node.entries) {
      const path = prefix ? `${prefix}.${key}` : key;
      if (path === "apiVersion" || path === "kind") continue;
      const option = leaves.get(path);
      if (option) read(option, path, line, value);
      else if (parents.has(path)) walk(value, path);
      else
        strictErrors.push(
          `${file.path}:${line}: ${path}: unknown field${hint(path, [...leaves.keys(), ...parents])}`,
        );
    }
  };
  const read = (option: AnyOption, path: string, line: number, node: ConfigNode): void => {
    if (node.is === "scalar" && node.value === null) return;
    const given = plainOf(node);
    if (option.zeroIsUnset && given === "") return;
    try {
      const value = option.type.read(given);
      if (option.zeroIsUnset && value === 0) return;
      values.push({ option, value, file: file.path, line, path });
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      const part = nodeWithin(node, error.at);
      const message = `${file.path}:${error.at ? part.line : line}: ${path}${error.at}: ${shown(part, error)}${error.message}`;
      const rest = error instanceof UnknownField ? nodeWithout(node, error.at) : undefined;
      if (rest) {
        strictErrors.push(message);
        return read(option, path, line, rest);
      }
      failed.push(option);
      problems.push(message);
    }
  };
  walk(file.root, "");
  return { values, problems, strictErrors, failed };
}

/** The invalid value, unless the message includes it. */
const shown = (part: ConfigNode, { message }: Refusal): string =>
  part.is === "scalar" && !/, not |is required|unknown field/.test(message)
    ? `${JSON.stringify(part.value)} `
    : "";

function kindProblems(set: OptionSet, path: string, root: Extract<ConfigNode, { is: "map" }>): string[] {
  const accepted = set.file ?? [];
  const field = (name: string) => root.entries.find(({ key }) => key === name);
  const problems: string[] = [];
  for (const name of ["apiVersion", "kind"] as const) {
    const entry = field(name);
    const value = entry && plainOf(entry.value);
    const allowed = [...new Set(accepted.map((kind) => kind[name]))];
    if (!entry || value === null || value === "")
      problems.push(`${path}:${root.line}: ${name}: is missing; it must be ${listed(allowed)}`);
    else if (!allowed.includes(value as string))
      problems.push(`${path}:${entry.line}: ${name}: ${JSON.stringify(value)} must be ${listed(allowed)}`);
  }
  return problems;
}

/** Returns every valid path, in canonical and dialect spelling. */
function pathsOf(set: OptionSet): { leaves: Map<string, AnyOption>; parents: Set<string> } {
  const leaves = new Map<string, AnyOption>();
  const parents = new Set<string>();
  for (const { options } of set.sections) {
    for (const option of options) {
      if (!option.config) continue;
      for (const path of [option.config, set.dialect.spelling.field(option.config)]) {
        leaves.set(path, option);
        for (let cut = path.lastIndexOf("."); cut > 0; cut = path.lastIndexOf(".", cut - 1))
          parents.add(path.slice(0, cut));
      }
    }
  }
  return { leaves, parents };
}
