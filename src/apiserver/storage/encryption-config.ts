// The file that says how values are encrypted in the store, read into providers per resource.
//
//   resources:
//     - resources: [secrets, "*.apps"]
//       providers: [{ aesgcm: { keys: [{ name: k1, secret: <base64> }] } }, { identity: {} }]
import { createCipheriv, createDecipheriv, randomBytes } from "node:crypto";
import { type Dialect, groupName } from "#dialect";
import { parseYaml } from "#schema";
import { type EncryptionProvider, aesGcm, identity } from "#store";

/** A resource by its name and its group on the wire. */
export interface ResourceId {
  readonly resource: string;
  readonly group: string;
}

/** The providers for a resource, the writing one first; undefined where nothing is said of it. */
export type EncryptionTable = (id: ResourceId) => readonly EncryptionProvider[] | undefined;

class Wrong extends Error {}

/** Throws naming the file and the field. */
export function parseEncryptionConfig(text: string, file: string, dialect: Dialect): EncryptionTable {
  try {
    const root = mapping(parseYaml(text).value, "the file");
    const apiVersion = `${groupName(dialect, { group: "apiserver.config", branded: true })}/v1`;
    if (root["kind"] !== "EncryptionConfiguration" || root["apiVersion"] !== apiVersion)
      throw new Wrong(`must be of kind EncryptionConfiguration and apiVersion ${apiVersion}`);
    const rules = list(root["resources"], "resources").map((item, at) =>
      ruleOf(mapping(item, `resources[${at}]`), `resources[${at}]`),
    );
    return (id) => rules.find(({ matches }) => matches(id))?.providers;
  } catch (error) {
    throw new Error(`${file}: ${(error as Error).message}`, { cause: error });
  }
}

interface Rule {
  matches(id: ResourceId): boolean;
  readonly providers: readonly EncryptionProvider[];
}

function ruleOf(item: Readonly<Record<string, unknown>>, path: string): Rule {
  only(item, ["resources", "providers"], path);
  const names = list(item["resources"], `${path}.resources`).map((name, at) =>
    resourcePattern(name, `${path}.resources[${at}]`),
  );
  const providers = list(item["providers"], `${path}.providers`).flatMap((provider, at) =>
    providersOf(mapping(provider, `${path}.providers[${at}]`), `${path}.providers[${at}]`),
  );
  return { matches: (id) => names.some((matches) => matches(id)), providers };
}

/** `secrets`, `deployments.apps`, `*.apps`, `*.` for the core group, `*.*` for everything. */
function resourcePattern(name: unknown, path: string): (id: ResourceId) => boolean {
  if (typeof name !== "string" || !/^(\*|[a-z][a-z0-9]*)(\.(\*|[a-z0-9.-]*))?$/.test(name))
    throw new Wrong(`${path}: must be a resource such as secrets, deployments.apps, *.apps, *. or *.*`);
  const cut = name.indexOf(".");
  const [resource, group] = cut < 0 ? [name, ""] : [name.slice(0, cut), name.slice(cut + 1)];
  if (resource === "*" && cut < 0)
    throw new Wrong(`${path}: *. means all of the core group, *.* means everything`);
  if (group === "*" && resource !== "*") throw new Wrong(`${path}: a resource cannot be meant in all groups`);
  return (id) => (resource === "*" || id.resource === resource) && (group === "*" || id.group === group);
}

function providersOf(provider: Readonly<Record<string, unknown>>, path: string): EncryptionProvider[] {
  const [name, ...more] = Object.keys(provider);
  if (name === undefined || more.length > 0) throw new Wrong(`${path}: must have exactly one provider`);
  switch (name) {
    case "identity":
      return [identity];
    case "aesgcm":
      return keysOf(provider[name], `${path}.${name}`).map(({ key, secret }) => aesGcm(key, secret));
    case "aescbc":
      return keysOf(provider[name], `${path}.${name}`).map(({ key, secret }) => aesCbc(key, secret));
    default:
      throw new Wrong(`${path}.${name}: this provider is not there; known are aesgcm, aescbc and identity`);
  }
}

function keysOf(provider: unknown, path: string): { key: string; secret: Buffer }[] {
  return list(mapping(provider, path)["keys"], `${path}.keys`).map((item, at) => {
    const { name, secret } = mapping(item, `${path}.keys[${at}]`);
    if (typeof name !== "string" || name === "" || name.includes(":"))
      throw new Wrong(`${path}.keys[${at}].name: must be a name without a colon`);
    if (typeof secret !== "string" || !/^[A-Za-z0-9+/]+={0,2}$/.test(secret))
      throw new Wrong(`${path}.keys[${at}].secret: must be base64`);
    const bytes = Buffer.from(secret, "base64");
    if (![16, 24, 32].includes(bytes.length))
      throw new Wrong(`${path}.keys[${at}].secret: must have 16, 24 or 32 bytes, not ${bytes.length}`);
    return { key: name, secret: bytes };
  });
}

const vectorBytes = 16;

/** AES-CBC with a random vector. It hides values but does not notice changes to them: prefer aesgcm. */
export function aesCbc(keyName: string, secret: Uint8Array): EncryptionProvider {
  const algorithm = `aes-${secret.length * 8}-cbc`;
  return {
    id: `aescbc:v1:${keyName}:`,
    seal: (value) => {
      const vector = randomBytes(vectorBytes);
      const cipher = createCipheriv(algorithm, secret, vector);
      return Buffer.concat([vector, cipher.update(value), cipher.final()]);
    },
    open: (sealed) => {
      if (sealed.length < 2 * vectorBytes || sealed.length % vectorBytes !== 0)
        throw new Error("it is cut short");
      const decipher = createDecipheriv(algorithm, secret, sealed.subarray(0, vectorBytes));
      return Buffer.concat([decipher.update(sealed.subarray(vectorBytes)), decipher.final()]);
    },
  };
}

function mapping(value: unknown, path: string): Readonly<Record<string, unknown>> {
  if (typeof value !== "object" || value === null || Array.isArray(value))
    throw new Wrong(`${path}: must be a mapping`);
  return value as Record<string, unknown>;
}

function list(value: unknown, path: string): readonly unknown[] {
  if (!Array.isArray(value) || value.length === 0)
    throw new Wrong(`${path}: must be a list with at least one item`);
  return value as readonly unknown[];
}

function only(value: Readonly<Record<string, unknown>>, names: readonly string[], path: string): void {
  const other = Object.keys(value).find((name) => !names.includes(name));
  if (other !== undefined)
    throw new Wrong(`${path}.${other}: unknown field; known are ${names.join(" and ")}`);
}
