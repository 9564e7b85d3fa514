// The configuration file of image credential providers.

import { type Dialect, apiVersionOf, dialects } from "#dialect";
import {
  type ConfigFile,
  type OptionType,
  Refusal,
  duration,
  listOf,
  nodeWithin,
  oneOf,
  plainOf,
  readConfigFile,
  struct,
  strings,
  text,
} from "#options";
import { parseLocation } from "../credentials/image-pattern.ts";

export interface CredentialProviderSettings {
  /** Name of the program in the providers directory. */
  readonly name?: string;
  readonly matchImages: readonly string[];
  /** In milliseconds. */
  readonly defaultCacheDuration: number;
  readonly apiVersion: string;
  readonly args?: readonly string[];
  readonly env?: readonly { readonly name?: string; readonly value?: string }[];
}

export interface CredentialProviders {
  readonly providers: readonly CredentialProviderSettings[];
  /** Problems as full sentences that start with file and line. */
  readonly problems: readonly string[];
}

export const readCredentialProviders = async (path: string, dialect: Dialect): Promise<CredentialProviders> =>
  credentialProvidersFrom(await readConfigFile(path), dialect);

export function credentialProvidersFrom(file: ConfigFile, dialect: Dialect): CredentialProviders {
  // Like the reference, ignores unknown fields and uses the last of duplicate ones.
  const problems = [...file.problems];
  if (!file.root) return { providers: [], problems };
  try {
    const { providers } = fileType(dialect).read(known(plainOf(file.root)));
    const names = providers.map(({ name = "" }) => name);
    const twice = names.findIndex((name, i) => names.indexOf(name) < i);
    if (twice >= 0)
      throw new Refusal(`${JSON.stringify(names[twice])} is named twice`, `.providers[${twice}].name`);
    return { providers, problems };
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    const part = nodeWithin(file.root, error.at);
    return {
      providers: [],
      problems: [
        ...problems,
        `${file.path}:${part.line}: ${error.at.replace(/^\./, "")}: ${part.is === "scalar" ? `${JSON.stringify(part.value)} ` : ""}${error.message}`,
      ],
    };
  }
}

const knownFields = {
  file: ["apiVersion", "kind", "providers"],
  providers: ["name", "matchImages", "defaultCacheDuration", "apiVersion", "args", "env"],
  env: ["name", "value"],
} as const;

/** Removes unknown fields at every level. */
function known(value: unknown, level: keyof typeof knownFields = "file"): unknown {
  if (Array.isArray(value)) return value.map((item) => known(item, level));
  if (typeof value !== "object" || value === null) return value;
  const fields: readonly string[] = knownFields[level];
  return Object.fromEntries(
    Object.entries(value)
      .filter(([name]) => fields.includes(name))
      .map(([name, part]) => [name, name === "providers" || name === "env" ? known(part, name) : part]),
  );
}

interface ProvidersFile {
  readonly apiVersion: string;
  readonly kind: string;
  readonly providers: readonly CredentialProviderSettings[];
}

function fileType(dialect: Dialect): OptionType<ProvidersFile> {
  const spoken = [...new Set([dialect, dialects.orch])];
  const versions = (group: string, ...list: readonly string[]): string[] =>
    spoken.flatMap((each) => list.map((version) => apiVersionOf(each, { group, branded: true, version })));
  const provider = struct<CredentialProviderSettings>({
    name: { type: named(programName) },
    matchImages: { type: atLeastOne(listOf(named(imagePattern)), "pattern"), required: true },
    defaultCacheDuration: { type: notNegative(duration), required: true },
    apiVersion: {
      type: oneOf(...versions("credentialprovider.nodeagent", "v1", "v1beta1", "v1alpha1")),
      required: true,
    },
    args: { type: strings },
    env: {
      type: listOf(
        struct<{ name?: string; value?: string }>({
          name: { type: text },
          value: { type: text },
        }),
      ),
    },
  });
  return struct<ProvidersFile>({
    apiVersion: { type: oneOf(...versions("nodeagent.config", "v1", "v1beta1", "v1alpha1")), required: true },
    kind: { type: oneOf("CredentialProviderConfig"), required: true },
    providers: { type: atLeastOne(listOf(provider), "provider"), required: true },
  });
}

const named = (check: (value: string) => string | undefined): OptionType<string> => ({
  ...text,
  read: (value) => {
    const wrong = check(text.read(value));
    if (wrong) throw new Refusal(wrong);
    return text.read(value);
  },
});
const atLeastOne = <T>(type: OptionType<readonly T[]>, what: string): OptionType<readonly T[]> => ({
  ...type,
  read: (value) => {
    const items = type.read(value);
    if (items.length === 0) throw new Refusal(`must name at least one ${what}`);
    return items;
  },
});

const notNegative = (type: OptionType<number>): OptionType<number> => ({
  ...type,
  read: (value) => {
    const found = type.read(value);
    if (found < 0) throw new Refusal("must be greater than or equal to 0");
    return found;
  },
});

const programName = (value: string): string | undefined =>
  value === "." || value === ".." || /[/\s]/.test(value)
    ? "must be the name of a program, without spaces or slashes"
    : undefined;
const imagePattern = (value: string): string | undefined =>
  parseLocation(value.replace(/^https?:\/\//, ""))
    ? undefined
    : "must be a registry's domain, with a port and a path at most";
