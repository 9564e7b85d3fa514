// The file that says how values are encrypted in the store, read into providers per resource.
//
//   resources:
//     - resources: [secrets, "*.apps"]
//       providers: [{ aesgcm: { keys: [{ name: k1, secret: <base64> }] } }, { identity: {} }]
import { durationMillis } from "#base";
import { type Dialect, groupName } from "#dialect";
import { parseYaml } from "#schema";
import { type EncryptionProvider, aesCbc, aesGcm, identity, secretbox } from "#store";

/** A resource by its name and its group on the wire. */
export interface ResourceId {
  readonly resource: string;
  readonly group: string;
}

/** The providers for a resource, the writing one first; undefined where nothing is said of it. */
export type EncryptionTable = (id: ResourceId) => readonly EncryptionProvider[] | undefined;

class Wrong extends Error {}

/** A key service, as the file describes it. */
export interface KmsSettings {
  readonly version: "v1" | "v2";
  readonly name: string;
  readonly endpoint: string;
  readonly timeoutMilliseconds: number;
  /** Data keys of version 1 kept decrypted. */
  readonly cacheSize: number;
}

export interface EncryptionParsing {
  /** For the messages. */
  readonly file: string;
  readonly dialect: Dialect;
  /** Whether the file is followed: the names of key services of version 1 must then be unique, too. */
  readonly reload: boolean;
  readonly openKms?: (settings: KmsSettings) => EncryptionProvider;
}

/**
 * Throws naming the file and the field. Key services are opened, in the order of the file, once everything
 * else is found to be right.
 */
export function parseEncryptionConfig(
  text: string,
  { file, dialect, reload, openKms = uncalled }: EncryptionParsing,
): EncryptionTable {
  try {
    const root = mapping(parseYaml(text).value, "the file");
    const apiVersion = `${groupName(dialect, { group: "apiserver.config", branded: true })}/v1`;
    if (root["kind"] !== "EncryptionConfiguration" || root["apiVersion"] !== apiVersion)
      throw new Wrong(`must be of kind EncryptionConfiguration and apiVersion ${apiVersion}`);
    const rules = list(root["resources"], "resources").map((item, at) =>
      ruleOf(mapping(item, `resources[${at}]`), `resources[${at}]`),
    );
    checkHidden(rules);
    rules.forEach(({ patterns }, at) => checkEncryptable(patterns, `resources[${at}].resources`, dialect));
    checkServiceNames(rules, reload);
    const opened = rules.map(({ matches, providers }) => ({
      matches,
      providers: providers.map((provider) => ("endpoint" in provider ? openKms(provider) : provider)),
    }));
    return (id) => opened.find(({ matches }) => matches(id))?.providers;
  } catch (error) {
    throw new Error(`${file}: ${(error as Error).message}`, { cause: error });
  }
}

/** Takes a key service's place where a file is only checked. */
const uncalled = ({ version, name }: KmsSettings): EncryptionProvider => ({
  ...identity,
  id: `kms:${version}:${name}:`,
});

/** What is stored without being an object, or as another group, would be encrypted by none of these. */
function checkEncryptable(patterns: readonly Pattern[], path: string, dialect: Dialect): void {
  const events = groupName(dialect, { group: "events", branded: true });
  patterns.forEach(({ resource, group, text }, at) => {
    if (group === "" && notObjects.has(resource))
      throw new Wrong(`${path}[${at}]: ${text} are no objects of the API and cannot be encrypted`);
    if (group === events) throw new Wrong(`${path}[${at}]: events are stored in the core group: events`);
    if (group === "extensions")
      throw new Wrong(
        `${path}[${at}]: the group extensions is gone; its resources are stored in other groups`,
      );
  });
}

const notObjects: ReadonlySet<string> = new Set([
  "apiserveripinfo",
  "serviceipallocations",
  "servicenodeportallocations",
]);

/** Health checks and metrics tell key services apart by their names. */
function checkServiceNames(rules: readonly Rule[], reload: boolean): void {
  const names = new Set<string>();
  for (const { services } of rules)
    for (const { path, name, version } of services) {
      if (names.has(name) && (reload || version === "v2"))
        throw new Wrong(
          `${path}.name: Invalid value: ${JSON.stringify(name)}: another key service has this name`,
        );
      names.add(name);
    }
}

interface Rule {
  readonly patterns: readonly Pattern[];
  matches(id: ResourceId): boolean;
  readonly providers: readonly (EncryptionProvider | KmsSettings)[];
  /** The key services among them, and where the file describes them. */
  readonly services: readonly (KmsSettings & { readonly path: string })[];
}

/** What an earlier pattern covers would never be looked at: nobody writes that on purpose. */
function checkHidden(rules: readonly Rule[]): void {
  const seen: Pattern[] = [];
  rules.forEach(({ patterns }, at) => {
    const known = seen.length;
    for (const pattern of patterns) {
      const earlier = seen.find(
        (each, index) => covers(each, pattern) && (index >= known || each.resource === "*"),
      );
      const later = seen.slice(known).find((each) => covers(pattern, each));
      if (earlier ?? later)
        throw new Wrong(
          `resources[${at}].resources: ${pattern.text} and ${(earlier ?? later)!.text} mean the same resources`,
        );
      seen.push(pattern);
    }
  });
}

const covers = (one: Pattern, other: Pattern): boolean =>
  (one.resource === "*" || one.resource === other.resource) &&
  (one.group === "*" || one.group === other.group);

function ruleOf(item: Readonly<Record<string, unknown>>, path: string): Rule {
  only(item, ["resources", "providers"], path);
  const names = list(item["resources"], `${path}.resources`).map((name, at) =>
    resourcePattern(name, `${path}.resources[${at}]`),
  );
  const providers = list(item["providers"], `${path}.providers`).map((provider, at) =>
    providersOf(mapping(provider, `${path}.providers[${at}]`), `${path}.providers[${at}]`),
  );
  return {
    patterns: names,
    matches: (id) => names.some((name) => covers(name, { ...id, text: "" })),
    providers: providers.flat(),
    services: providers.flatMap((each, at) =>
      each
        .filter((provider) => "endpoint" in provider)
        .map((service) => ({ ...service, path: `${path}.providers[${at}].kms` })),
    ),
  };
}

interface Pattern {
  readonly resource: string;
  readonly group: string;
  readonly text: string;
}

/** `secrets`, `deployments.apps`, `*.apps`, `*.` for the core group, `*.*` for everything. */
function resourcePattern(name: unknown, path: string): Pattern {
  if (typeof name !== "string" || !/^(\*|[a-z][a-z0-9]*)(\.(\*|[a-z0-9.-]*))?$/.test(name))
    throw new Wrong(`${path}: must be a resource such as secrets, deployments.apps, *.apps, *. or *.*`);
  const cut = name.indexOf(".");
  const [resource, group] = cut < 0 ? [name, ""] : [name.slice(0, cut), name.slice(cut + 1)];
  if (resource === "*" && cut < 0)
    throw new Wrong(`${path}: *. means all of the core group, *.* means everything`);
  if (group === "*" && resource !== "*") throw new Wrong(`${path}: a resource cannot be meant in all groups`);
  return { resource, group, text: name };
}

function providersOf(
  provider: Readonly<Record<string, unknown>>,
  path: string,
): (EncryptionProvider | KmsSettings)[] {
  const [name, ...more] = Object.keys(provider);
  if (name === undefined || more.length > 0) throw new Wrong(`${path}: must have exactly one provider`);
  switch (name) {
    case "identity":
      return [identity];
    case "aesgcm":
      return keysOf(provider[name], `${path}.${name}`).map(({ key, secret }) => aesGcm(key, secret));
    case "aescbc":
      return keysOf(provider[name], `${path}.${name}`).map(({ key, secret }) => aesCbc(key, secret));
    case "secretbox":
      return keysOf(provider[name], `${path}.${name}`, [32]).map(({ key, secret }) => secretbox(key, secret));
    case "kms":
      return [kmsOf(mapping(provider[name], `${path}.kms`), `${path}.kms`)];
    default:
      throw new Wrong(
        `${path}: the provider ${name} is not known; known are aesgcm, aescbc, secretbox, kms and identity`,
      );
  }
}

const usualTimeout = "3s";
const usualCacheSize = 1000;

function kmsOf(kms: Readonly<Record<string, unknown>>, path: string): KmsSettings {
  only(kms, ["apiVersion", "name", "cachesize", "endpoint", "timeout"], path);
  const { apiVersion = "v1", name, cachesize, endpoint, timeout = usualTimeout } = kms;
  if (apiVersion !== "v1" && apiVersion !== "v2") throw new Wrong(`${path}.apiVersion: must be v1 or v2`);
  if (typeof name !== "string" || name === "") throw new Wrong(`${path}.name: must be a name`);
  if (name.includes(":") && apiVersion === "v2")
    throw new Wrong(`${path}.name: must be a name without a colon`);
  if (typeof endpoint !== "string" || !/^unix:\/\/\/./.test(endpoint))
    throw new Wrong(`${path}.endpoint: must be a unix socket, such as unix:///run/kms.sock`);
  if (cachesize !== undefined && apiVersion === "v2")
    throw new Wrong(`${path}.cachesize: has no meaning for version v2`);
  if (cachesize !== undefined && (!Number.isInteger(cachesize) || cachesize === 0))
    throw new Wrong(`${path}.cachesize: must be a whole number other than 0`);
  const milliseconds = durationOf(timeout, `${path}.timeout`);
  return {
    version: apiVersion,
    name,
    endpoint,
    timeoutMilliseconds: milliseconds,
    cacheSize: (cachesize as number | undefined) ?? usualCacheSize,
  };
}

function durationOf(text: unknown, path: string): number {
  let milliseconds = 0;
  try {
    milliseconds = durationMillis(String(text));
  } catch (error) {
    throw new Wrong(`${path}: ${(error as Error).message}`);
  }
  if (milliseconds <= 0) throw new Wrong(`${path}: must be longer than 0`);
  return milliseconds;
}

function keysOf(
  provider: unknown,
  path: string,
  lengths: readonly number[] = [16, 24, 32],
): { key: string; secret: Buffer }[] {
  return list(mapping(provider, path)["keys"], `${path}.keys`).map((item, at) => {
    const { name, secret } = mapping(item, `${path}.keys[${at}]`);
    if (typeof name !== "string" || name === "" || name.includes(":"))
      throw new Wrong(`${path}.keys[${at}].name: must be a name without a colon`);
    if (typeof secret !== "string" || !/^[A-Za-z0-9+/]+={0,2}$/.test(secret))
      throw new Wrong(`${path}.keys[${at}].secret: must be base64`);
    const bytes = Buffer.from(secret, "base64");
    if (!lengths.includes(bytes.length))
      throw new Wrong(
        `${path}.keys[${at}].secret: must have ${lengths.join(" or ")} bytes, not ${bytes.length}`,
      );
    return { key: name, secret: bytes };
  });
}

function mapping(value: unknown, path: string): Readonly<Record<string, unknown>> {
  if (typeof value !== "object" || value === null || Array.isArray(value))
    throw new Wrong(`${path}: must be a mapping`);
  return value as Record<string, unknown>;
}

function list(value: unknown, path: string): readonly unknown[] {
  if (!Array.isArray(value) || value.length === 0)
    throw new Wrong(`${path}: Required value: must be a list with at least one item`);
  return value as readonly unknown[];
}

function only(value: Readonly<Record<string, unknown>>, names: readonly string[], path: string): void {
  const other = Object.keys(value).find((name) => !names.includes(name));
  if (other !== undefined)
    throw new Wrong(`${path}.${other}: unknown field; known are ${names.join(" and ")}`);
}
