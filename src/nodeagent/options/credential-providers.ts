// The configuration file of image credential providers: strict reading, and which images a pattern means.

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

export interface CredentialProviderSettings {
  /** The program's name in the directory of providers. */
  readonly name: string;
  readonly matchImages: readonly string[];
  /** Milliseconds. */
  readonly defaultCacheDuration: number;
  readonly apiVersion: string;
  readonly args?: readonly string[];
  readonly env?: readonly { readonly name: string; readonly value: string }[];
}

export interface CredentialProviders {
  readonly providers: readonly CredentialProviderSettings[];
  /** Whole sentences that begin with the file and the line. */
  readonly problems: readonly string[];
}

export const readCredentialProviders = async (path: string, dialect: Dialect): Promise<CredentialProviders> =>
  credentialProvidersFrom(await readConfigFile(path), dialect);

export function credentialProvidersFrom(file: ConfigFile, dialect: Dialect): CredentialProviders {
  const problems = [...file.problems, ...file.slips];
  if (!file.root) return { providers: [], problems };
  try {
    const { providers } = fileType(dialect).read(plainOf(file.root));
    const names = providers.map(({ name }) => name);
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
    name: { type: named(programName), required: true },
    matchImages: { type: listOf(named(imagePattern)), required: true },
    defaultCacheDuration: { type: duration, required: true },
    apiVersion: { type: oneOf(...versions("credentialprovider.nodeagent", "v1beta1")), required: true },
    args: { type: strings },
    env: {
      type: listOf(
        struct<{ name: string; value: string }>({
          name: { type: text, required: true },
          value: { type: text, required: true },
        }),
      ),
    },
  });
  return struct<ProvidersFile>({
    apiVersion: { type: oneOf(...versions("nodeagent.config", "v1beta1", "v1")), required: true },
    kind: { type: oneOf("CredentialProviderConfig"), required: true },
    providers: { type: atLeastOne(listOf(provider)), required: true },
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
const atLeastOne = <T>(type: OptionType<readonly T[]>): OptionType<readonly T[]> => ({
  ...type,
  read: (value) => {
    const items = type.read(value);
    if (items.length === 0) throw new Refusal("must name at least one provider");
    return items;
  },
});

const programName = (value: string): string | undefined =>
  value === "" || value === "." || value === ".." || /[/\s]/.test(value)
    ? "must be the name of a program, without spaces or slashes"
    : undefined;
const imagePattern = (value: string): string | undefined => {
  const { host, port, path } = partsOf(value);
  if (host === "" || /[^-a-zA-Z0-9.*_]/.test(host)) return "must begin with a registry's domain";
  return `${port}${path}`.includes("*") ? "may have * in the domain only" : undefined;
};

/**
 * Whether an image, tag and all, falls under a pattern: as many domain parts, each matching, path a prefix,
 * port the same if given.
 */
export function imageMatches(pattern: string, image: string): boolean {
  const wanted = partsOf(pattern);
  const found = partsOf(image);
  const [parts, others] = [wanted.host.split("."), found.host.split(".")];
  if (
    parts.length !== others.length ||
    (wanted.port !== "" && wanted.port !== found.port) ||
    !found.path.startsWith(wanted.path)
  )
    return false;
  return parts.every((part, i) =>
    new RegExp(`^${part.replace(/[^a-zA-Z0-9*]/g, "\\$&").replaceAll("*", "[^.]*")}$`).test(others[i]!),
  );
}

function partsOf(image: string): { host: string; port: string; path: string } {
  const plain = image.replace(/^[a-z]+:\/\//, "");
  const cut = plain.indexOf("/");
  const [host = "", port = ""] = (cut < 0 ? plain : plain.slice(0, cut)).split(":");
  return { host, port, path: cut < 0 ? "" : plain.slice(cut) };
}
