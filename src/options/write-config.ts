// Writes settled values as a configuration file, in whole or reduced to what differs from the defaults.

import type { AnyOption, OptionSet } from "./option.ts";
import type { Settled } from "./settle.ts";

/**
 * Returns the whole configuration as plain data, in the order of the declarations and the spelling of the
 * dialect.
 */
export function configOf(set: OptionSet, values: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const config: Record<string, unknown> = { ...set.file![0] };
  for (const option of configured(set))
    put(config, set.dialect.spelling.field(option.config), option.type.write(values[option.name]));
  return config;
}

export async function configText(config: Record<string, unknown>, format: "yaml" | "json"): Promise<string> {
  if (format === "json") return `${JSON.stringify(config, null, 2)}\n`;
  const yaml = await import("js-yaml");
  return yaml.dump(config, { lineWidth: -1, noRefs: true, schema: yaml.YAML11_SCHEMA });
}

/**
 * Returns a file with only the fields required to preserve the configuration, with comments that explain
 * them.
 */
export async function migratedConfig(
  set: OptionSet,
  settled: Settled<Readonly<Record<string, unknown>>>,
): Promise<string> {
  const lines = [`apiVersion: ${set.file![0]!.apiVersion}`, `kind: ${set.file![0]!.kind}`];
  const nested: Record<string, unknown> = {};
  const notes: string[] = [];
  for (const option of configured(set)) {
    const value = settled.values[option.name];
    if (option.type.format(value) === option.type.format(option.default)) continue;
    const path = set.dialect.spelling.field(option.config);
    const source = settled.provenance[option.name]!;
    put(nested, path, option.type.write(value));
    if (source.from === "legacy default")
      notes.push(
        `${path}: without a file this was the default; a file's own default is ${option.type.format(option.default) || '""'}`,
      );
  }
  const remaining = flagsLeft(set, settled);
  const head = [
    ...(notes.length > 0
      ? ["# Said here because the defaults differ:", ...notes.map((note) => `#   ${note}`)]
      : []),
    ...(remaining.length > 0
      ? [
          "# These have no place in the file and stay on the command line:",
          ...remaining.map((flag) => `#   ${flag}`),
        ]
      : []),
  ];
  const body = Object.keys(nested).length > 0 ? await configText(nested, "yaml") : "";
  return `${[...head, ...lines].join("\n")}\n${body}`;
}

/** Returns flags that were given and that a file cannot contain. */
function flagsLeft(set: OptionSet, settled: Settled<Readonly<Record<string, unknown>>>): string[] {
  return set.sections
    .flatMap(({ options }) => options)
    .filter((option) => option.config === undefined && settled.provenance[option.name]?.from === "flag")
    .map((option) => `--${option.flag}=${option.type.format(settled.values[option.name])}`);
}

function configured(set: OptionSet): (AnyOption & { readonly config: string })[] {
  return set.sections
    .flatMap(({ options }) => options)
    .filter((option): option is AnyOption & { readonly config: string } => option.config !== undefined);
}

function put(into: Record<string, unknown>, path: string, value: unknown): void {
  if (value === undefined) return;
  const steps = path.split(".");
  const last = steps.pop()!;
  let target = into;
  for (const step of steps) target = (target[step] ??= {}) as Record<string, unknown>;
  target[last] = value;
}
