// Registry credentials from a pod's image pull secrets.
import type { Secret } from "#api";
import type { AuthConfig } from "#cri";
import type { Dialect } from "#dialect";
import type { RegistryAuths } from "../credentials/keyring.ts";

interface Entry {
  readonly username?: string;
  readonly password?: string;
  readonly auth?: string;
}

/** Returns one set of credentials per secret, by registry location. */
export const secretAuths = (secrets: readonly Secret[], dialect: Dialect): RegistryAuths[] =>
  secrets.map((secret) =>
    Object.entries(entriesOf(secret, dialect)).map(([place, entry]) => [place, authOf(entry)]),
  );

function entriesOf(secret: Secret, { names }: Dialect): Readonly<Record<string, Entry>> {
  const text = (key: string): string => Buffer.from(String(secret.data?.[key] ?? ""), "base64").toString();
  try {
    if (secret.type === names.secretTypes.dockerConfigJson)
      return (JSON.parse(text(".dockerconfigjson")) as { auths?: Record<string, Entry> }).auths ?? {};
    if (secret.type === names.secretTypes.dockerConfig)
      return JSON.parse(text(".dockercfg")) as Record<string, Entry>;
  } catch {
    // A malformed secret contributes no credentials; the failing pull is reported to the user.
  }
  return {};
}

function authOf({ username, password, auth }: Entry): AuthConfig {
  if (username !== undefined || password !== undefined || !auth)
    return { username: username ?? "", password: password ?? "" };
  const pair = Buffer.from(auth, "base64").toString();
  const colon = pair.indexOf(":");
  return colon < 0
    ? { auth }
    : { username: pair.slice(0, colon), password: pair.slice(colon + 1).replace(/\0+$/, "") };
}
