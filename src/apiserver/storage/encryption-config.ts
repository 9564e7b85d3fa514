// Parses the encryption configuration file into providers per resource.
//
//   resources:
//     - resources: [secrets, "*.apps"]
//       providers: [{ aesgcm: { keys: [{ name: k1, secret: <base64> }] } }, { identity: {} }]
import { closeSync, openSync, readFileSync } from "node:fs";
import { type EncryptionProviderConfig, type KmsConfig, decodeConfigObject, encryptionConfigs } from "#api";
import { durationMillis, fieldErrorsText, fileErrorText } from "#base";
import type { Dialect } from "#dialect";
import { decodedBase64 } from "#schema";
import { type EncryptionProvider, aesCbc, aesGcm, identity, secretbox } from "#store";
import { encryptionErrors, groupResource, defaultKmsVersion, defaultTimeout } from "./encryption-checks.ts";

/** A resource by its name and its API group. */
export interface ResourceId {
  readonly resource: string;
  readonly group: string;
}

/** Returns the providers for a resource, the one for writing first; undefined if no rule covers it. */
export type EncryptionTable = (id: ResourceId) => readonly EncryptionProvider[] | undefined;

/** Settings of a KMS provider. */
export interface KmsSettings {
  readonly version: "v1" | "v2";
  readonly name: string;
  readonly endpoint: string;
  readonly timeoutMilliseconds: number;
  /** Capacity of the cache of decrypted data keys (v1). */
  readonly cacheSize: number;
}

export interface EncryptionParsing {
  /** Named in error messages. */
  readonly file: string;
  readonly dialect: Dialect;
  /** Whether the file is reloaded at runtime; the names of KMS v1 providers must then be unique, too. */
  readonly reload: boolean;
  readonly openKms?: (settings: KmsSettings) => EncryptionProvider;
  /** Wraps each provider of the file. */
  readonly wrap?: (provider: EncryptionProvider) => EncryptionProvider;
}

/** Returns the text of the file; errors are worded as in kube-apiserver. */
export function readEncryptionFile(file: string): string {
  let opened: number;
  try {
    opened = openSync(file, "r");
  } catch (error) {
    throw new Error(
      `error while parsing file: error opening encryption provider configuration file ${JSON.stringify(file)}: ${fileErrorText(error, file)}`,
      { cause: error },
    );
  }
  try {
    return readFileSync(opened, "utf8");
  } catch (error) {
    throw new Error(`error while parsing file: could not read contents: ${fileErrorText(error, file)}`, {
      cause: error,
    });
  } finally {
    closeSync(opened);
  }
}

/**
 * Parses the configuration; errors are worded as in kube-apiserver. KMS providers are opened in the order of
 * the file, after all validation has passed.
 */
export function parseEncryptionConfig(
  text: string,
  { file, dialect, reload, openKms = unopenedKms, wrap = (provider) => provider }: EncryptionParsing,
): EncryptionTable {
  const rules = rulesOf(text, file, dialect);
  const errors = encryptionErrors(rules, { reload, dialect });
  if (errors.length > 0) throw new Error(`error while parsing file: ${fieldErrorsText(errors)}`);
  const masked = maskedRule(rules.flatMap(({ resources }) => resources ?? []));
  if (masked !== undefined) throw new Error(`error while building transformers: ${masked}`);
  const providers = new Map<string, EncryptionProvider[]>();
  for (const rule of rules) {
    const opened = (rule.providers ?? []).flatMap((provider) => providersOf(provider, openKms).map(wrap));
    for (const name of rule.resources ?? []) {
      const { resource, group } = groupResource(name);
      const key = `${resource}.${group}`;
      // A resource of several rules is written with the first one and can be read with the keys of all.
      providers.set(key, [...(providers.get(key) ?? []), ...opened]);
    }
  }
  return ({ resource, group }) =>
    providers.get(`${resource}.${group}`) ?? providers.get(`*.${group}`) ?? providers.get("*.*");
}

function rulesOf(text: string, file: string, dialect: Dialect) {
  const shown = JSON.stringify(file);
  if (text === "")
    throw new Error(`error while parsing file: encryption provider configuration file ${shown} is empty`);
  try {
    return decodeConfigObject(text, encryptionConfigs(), dialect, true).value.resources ?? [];
  } catch (error) {
    throw new Error(
      `error while parsing file: error decoding encryption provider configuration file ${shown}: ${(error as Error).message}`,
      { cause: error },
    );
  }
}

/** Stands in for a KMS provider when the file is only validated. */
const unopenedKms = ({ version, name }: KmsSettings): EncryptionProvider => ({
  ...identity,
  id: `kms:${version}:${name}:`,
});

/** Returns an error text for a rule behind a wildcard that covers it, since that rule would never apply. */
function maskedRule(names: readonly string[]): string | undefined {
  const wild = new Set<string>();
  for (const name of names) {
    const { resource, group } = groupResource(name);
    const earlier = [group, "*"].find((each) => wild.has(each));
    if (earlier !== undefined)
      return `resource ${JSON.stringify(name)} is masked by earlier rule ${JSON.stringify(`*.${earlier}`)}`;
    if (resource === "*") wild.add(group);
  }
  return undefined;
}

function providersOf(
  { aesgcm, aescbc, secretbox: box, kms }: EncryptionProviderConfig,
  openKms: (settings: KmsSettings) => EncryptionProvider,
): EncryptionProvider[] {
  if (kms) return [openKms(kmsOf(kms))];
  if (aesgcm) return keysOf(aesgcm).map(({ name, secret }) => aesGcm(name, secret));
  if (aescbc) return keysOf(aescbc).map(({ name, secret }) => aesCbc(name, secret));
  if (box) return keysOf(box).map(({ name, secret }) => secretbox(name, secret));
  return [identity];
}

const keysOf = ({ keys }: NonNullable<EncryptionProviderConfig["aesgcm"]>) =>
  (keys ?? []).map(({ name, secret }) => ({ name, secret: decodedBase64(secret)! }));

const defaultCacheSize = 1000;

const kmsOf = ({ apiVersion, name, endpoint, cachesize, timeout }: KmsConfig): KmsSettings => ({
  version: (apiVersion || defaultKmsVersion) as "v1" | "v2",
  name,
  endpoint,
  timeoutMilliseconds: durationMillis(timeout ?? defaultTimeout),
  cacheSize: cachesize ?? defaultCacheSize,
});
