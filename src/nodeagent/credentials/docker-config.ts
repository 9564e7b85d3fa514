// Parses the configuration file of the docker client, which pull secrets and files of the node contain:
// `config.json` with the credentials in `auths`, or the older `.dockercfg`, which contains nothing else.
import type { AuthConfig } from "#cri";
import { parseJson } from "#schema";
import type { RegistryAuths } from "./keyring.ts";

export type DockerConfigForm = "config.json" | ".dockercfg";

type Fields = Readonly<Record<string, unknown>>;

/** Returns the credentials. Throws if any of them is malformed. */
export function parseDockerConfig(text: string, form: DockerConfigForm): RegistryAuths {
  const all = objectOf(parseJson(text).value, "docker configuration");
  const entries = form === "config.json" ? objectOf(all["auths"], "auths") : all;
  return Object.entries(entries).map(([place, entry]) => [place, authOf(objectOf(entry, place), place)]);
}

function objectOf(value: unknown, what: string): Fields {
  if (typeof (value ?? {}) !== "object" || Array.isArray(value)) throw new Error(`${what} is not an object`);
  return (value ?? {}) as Fields;
}

/** The field `auth`, user name and password in one, takes precedence. */
function authOf(entry: Fields, place: string): AuthConfig {
  const textOf = (field: string): string => {
    const value = entry[field] ?? "";
    if (typeof value !== "string") throw new Error(`${field} of ${place} is not a string`);
    return value;
  };
  const [username, password, auth] = [textOf("username"), textOf("password"), textOf("auth")];
  if (auth === "") return { username, password };
  const pair = decoded(auth);
  const colon = pair.indexOf(":");
  if (colon < 0)
    throw new Error("unable to parse auth field, must be formatted as base64(username:password)");
  return { username: pair.slice(0, colon), password: pair.slice(colon + 1) };
}

/** Decodes base64 with or without padding. Throws on other characters, which Node.js would skip. */
function decoded(text: string): string {
  const digits = text.replace(/={0,2}[\r\n]*$/, "");
  const wrong = digits.search(/[^A-Za-z0-9+/\r\n]/);
  const length = digits.replaceAll(/[\r\n]/g, "").length;
  if (wrong >= 0 || length % 4 === 1)
    throw new Error(`illegal base64 data at input byte ${wrong >= 0 ? wrong : digits.length - 1}`);
  return Buffer.from(digits, "base64").toString();
}
