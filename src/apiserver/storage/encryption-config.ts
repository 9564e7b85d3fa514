// The file that says how values are encrypted in the store, read into providers per resource.
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
import { encryptionErrors, groupResource, usualKmsVersion, usualTimeout } from "./encryption-checks.ts";

/** A resource by its name and its group on the wire. */
export interface ResourceId {
  readonly resource: string;
  readonly group: string;
}

/** The providers for a resource, the writing one first; undefined where nothing is said of it. */
export type EncryptionTable = (id: ResourceId) => readonly EncryptionProvider[] | undefined;

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
  /** Puts something around each provider of the file. */
  readonly around?: (provider: EncryptionProvider) => EncryptionProvider;
}

/** The text of the file; what is wrong is said in the words of kube-apiserver. */
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
 * Throws what is wrong in the words of kube-apiserver. Key services are opened, in the order of the file,
 * once everything else is found to be right.
 */
export function parseEncryptionConfig(
  text: string,
  { file, dialect, reload, openKms = uncalled, around = (provider) => provider }: EncryptionParsing,
): EncryptionTable {
  const rules = rulesOf(text, file, dialect);
  const errors = encryptionErrors(rules, { reload, dialect });
  if (errors.length > 0) throw new Error(`error while parsing file: ${fieldErrorsText(errors)}`);
  const masked = maskedRule(rules.flatMap(({ resources }) => resources ?? []));
  if (masked !== undefined) throw new Error(`error while building transformers: ${masked}`);
  const providers = new Map<string, EncryptionProvider[]>();
  for (const rule of rules) {
    const opened = (rule.providers ?? []).flatMap((provider) => providersOf(provider, openKms).map(around));
    for (const name of rule.resources ?? []) {
      const { resource, group } = groupResource(name);
      const key = `${resource}.${group}`;
      // A resource of several rules is written by the first one and read with the keys of all.
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

/** Takes a key service's place where a file is only checked. */
const uncalled = ({ version, name }: KmsSettings): EncryptionProvider => ({
  ...identity,
  id: `kms:${version}:${name}:`,
});

/** A rule behind a wildcard that covers it would never be looked at: nobody writes that on purpose. */
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

const usualCacheSize = 1000;

const kmsOf = ({ apiVersion, name, endpoint, cachesize, timeout }: KmsConfig): KmsSettings => ({
  version: (apiVersion || usualKmsVersion) as "v1" | "v2",
  name,
  endpoint,
  timeoutMilliseconds: durationMillis(timeout ?? usualTimeout),
  cacheSize: cachesize ?? usualCacheSize,
});
