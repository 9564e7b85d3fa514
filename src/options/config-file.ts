// Parses a configuration file, YAML or JSON, to a tree with the line of every value.

import { readFile } from "node:fs/promises";
import type { Event, ScalarEvent } from "js-yaml";

export type ConfigNode =
  | { readonly is: "scalar"; readonly value: string | number | boolean | null; readonly line: number }
  | { readonly is: "list"; readonly items: readonly ConfigNode[]; readonly line: number }
  | { readonly is: "map"; readonly entries: readonly ConfigEntry[]; readonly line: number };
export interface ConfigEntry {
  readonly key: string;
  readonly line: number;
  readonly value: ConfigNode;
}

export interface ConfigFile {
  readonly path: string;
  /** Absent if the file could not be parsed; `problems` has the reason. */
  readonly root?: ConfigNode;
  /** Messages that start with file and line. */
  readonly problems: readonly string[];
  /** Messages about duplicate fields, the last of which is used. */
  readonly strictErrors: readonly string[];
}

/** Size limit of a configuration file. */
const sizeLimit = 4 << 20;
/** Maximum number of values after expansion of aliases, which may refer to large nodes repeatedly. */
const valueLimit = 100_000;

export async function readConfigFile(path: string): Promise<ConfigFile> {
  try {
    return await parseConfigFile(path, await readFile(path, "utf8"));
  } catch (error) {
    const code = (error as { code?: string }).code;
    const why =
      code === "ENOENT"
        ? "there is no such file"
        : code === "EACCES"
          ? "it may not be read by this user"
          : code === "EISDIR"
            ? "it is a directory"
            : String((error as Error).message);
    return { path, problems: [`${path}: cannot read the configuration file: ${why}`], strictErrors: [] };
  }
}

export async function parseConfigFile(path: string, text: string): Promise<ConfigFile> {
  if (text.length > sizeLimit)
    return {
      path,
      problems: [`${path}: has ${text.length} bytes; a configuration file has at most ${sizeLimit}`],
      strictErrors: [],
    };
  const yaml = await import("js-yaml");
  let events: Event[];
  try {
    events = yaml.parseEvents(text, {});
  } catch (error) {
    const { reason, mark } = error as { reason?: string; mark?: { line: number } };
    return {
      path,
      problems: [`${path}:${(mark?.line ?? 0) + 1}: is neither YAML nor JSON: ${reason ?? String(error)}`],
      strictErrors: [],
    };
  }
  const documents = events.filter(({ type }) => type === yaml.EVENT_DOCUMENT).length;
  if (documents > 1)
    return {
      path,
      problems: [`${path}: holds ${documents} documents; a configuration file is one`],
      strictErrors: [],
    };
  return treeOf(path, text, events, yaml.getScalarValue);
}

/** Builds the tree from parser events. */
function treeOf(
  path: string,
  text: string,
  events: readonly Event[],
  scalarText: (input: string, scalar: ScalarEvent) => string,
): ConfigFile {
  const starts = lineStarts(text);
  const lineAt = (offset: number): number => lineOf(starts, offset);
  const strictErrors: string[] = [];
  const anchors = new Map<string, ConfigNode>();
  const sizes = new WeakMap<ConfigNode, number>();
  let at = 0;
  let lastLine = 1;

  const node = (where: string): ConfigNode | undefined => {
    const event = events[at++];
    if (!event) return undefined;
    switch (event.type) {
      case 2: {
        const line = (lastLine = lineAt(event.start));
        const items: ConfigNode[] = [];
        while (events[at] && events[at]!.type !== 6) {
          const item = node(`${where}[${items.length}]`);
          if (item) items.push(item);
        }
        at++;
        return keep(event, { is: "list", items, line });
      }
      case 3: {
        const line = (lastLine = lineAt(event.start));
        const entries = new Map<string, ConfigEntry>();
        while (events[at] && events[at]!.type !== 6) {
          const key = node(where);
          const name = key?.is === "scalar" ? String(key.value) : "?";
          const full = where ? `${where}.${name}` : name;
          const value = node(full) ?? { is: "scalar", value: null, line: lastLine };
          const before = entries.get(name);
          const keyLine = key?.line ?? lastLine;
          if (before)
            strictErrors.push(
              `${path}:${keyLine}: ${full}: is given twice; the first is on line ${before.line}`,
            );
          entries.set(name, { key: name, line: keyLine, value });
        }
        at++;
        return keep(event, { is: "map", entries: [...entries.values()], line });
      }
      case 4: {
        const line = event.valueStart < 0 ? lastLine : (lastLine = lineAt(event.valueStart));
        const plain = event.style === 1;
        const value = event.valueStart < 0 ? "" : scalarText(text, event);
        return keep(event, { is: "scalar", value: plain ? plainScalar(value) : value, line });
      }
      case 5: {
        const name = text.slice(event.anchorStart, event.anchorEnd);
        return anchors.get(name) ?? { is: "scalar", value: null, line: lineAt(event.anchorStart) };
      }
      default:
        return undefined;
    }
  };
  const keep = (event: { anchorStart: number; anchorEnd: number }, made: ConfigNode): ConfigNode => {
    const parts =
      made.is === "list" ? made.items : made.is === "map" ? made.entries.map(({ value }) => value) : [];
    sizes.set(
      made,
      parts.reduce((sum, part) => sum + (sizes.get(part) ?? 1), 1),
    );
    if (event.anchorStart >= 0) anchors.set(text.slice(event.anchorStart, event.anchorEnd), made);
    return made;
  };

  while (events[at]?.type === 1) at++;
  const root = events[at] && events[at]!.type !== 6 ? node("") : undefined;
  if (!root || (root.is === "scalar" && root.value === null))
    return { path, problems: [`${path}: the configuration file is empty`], strictErrors };
  if ((sizes.get(root) ?? 1) > valueLimit)
    return {
      path,
      problems: [`${path}: has more than ${valueLimit} values once its aliases are expanded`],
      strictErrors,
    };
  if (root.is !== "map")
    return {
      path,
      problems: [`${path}:${root.line}: a configuration file is a mapping of fields to values`],
      strictErrors,
    };
  return { path, root, problems: [], strictErrors };
}

/** Resolves a plain scalar as Kubernetes tools do: YAML 1.1 booleans, Go's numbers. */
function plainScalar(value: string): string | number | boolean | null {
  if (/^(~|null|Null|NULL|)$/.test(value)) return null;
  if (/^(true|True|TRUE|yes|Yes|YES|on|On|ON|y|Y)$/.test(value)) return true;
  if (/^(false|False|FALSE|no|No|NO|off|Off|OFF|n|N)$/.test(value)) return false;
  if (/^[-+]?[0-9][0-9_]*$/.test(value) && !/^[-+]?0[0-9]/.test(value))
    return Number(value.replaceAll("_", ""));
  if (/^[-+]?0[xX][0-9a-fA-F_]+$|^0[oO][0-7_]+$|^0[bB][01_]+$/.test(value))
    return Number(value.replaceAll("_", ""));
  if (/^[-+]?0[0-7_]+$/.test(value)) return Number.parseInt(value.replaceAll("_", ""), 8);
  if (/^[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?$/.test(value)) return Number(value);
  return value;
}

/** Converts a node to plain data. */
export function plainOf(node: ConfigNode): unknown {
  switch (node.is) {
    case "scalar":
      return node.value;
    case "list":
      return node.items.map(plainOf);
    case "map":
      return Object.fromEntries(node.entries.map(({ key, value }) => [key, plainOf(value)]));
  }
}

/**
 * Returns the part of a node that an error refers to, such as `[0].effect`, or its closest existing ancestor.
 */
export function nodeWithin(node: ConfigNode, at: string): ConfigNode {
  let here = node;
  for (const step of stepsOf(at)) {
    const next =
      here.is === "list"
        ? here.items[Number(step)]
        : here.is === "map"
          ? here.entries.find(({ key }) => key === step)?.value
          : undefined;
    if (!next) break;
    here = next;
  }
  return here;
}

/** Returns a node without the field that an error refers to; undefined if there is no such field. */
export function nodeWithout(node: ConfigNode, at: string): ConfigNode | undefined {
  const drop = (
    here: ConfigNode | undefined,
    [step, ...deeper]: readonly string[],
  ): ConfigNode | undefined => {
    if (here?.is === "list") {
      const item = drop(here.items[Number(step)], deeper);
      return item && { ...here, items: here.items.with(Number(step), item) };
    }
    const found = here?.is === "map" ? here.entries.findIndex(({ key }) => key === step) : -1;
    if (here?.is !== "map" || found < 0) return undefined;
    if (deeper.length === 0) return { ...here, entries: here.entries.toSpliced(found, 1) };
    const value = drop(here.entries[found]!.value, deeper);
    return value && { ...here, entries: here.entries.with(found, { ...here.entries[found]!, value }) };
  };
  return drop(node, stepsOf(at));
}

const stepsOf = (at: string): string[] =>
  [...at.matchAll(/\[([^\]]*)\]|\.([^.[]+)/g)].map(([, index, key]) => index ?? key!);

function lineStarts(text: string): number[] {
  const starts = [0];
  for (let i = text.indexOf("\n"); i >= 0; i = text.indexOf("\n", i + 1)) starts.push(i + 1);
  return starts;
}

function lineOf(starts: readonly number[], offset: number): number {
  let low = 0;
  let high = starts.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (starts[middle]! <= offset) low = middle + 1;
    else high = middle;
  }
  return low;
}
