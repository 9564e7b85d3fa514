// Credentials for registries, from the secrets that a pod names.
import type { Secret } from "#api";
import type { AuthConfig } from "#cri";
import type { Dialect } from "#dialect";
import type { ImageName } from "./image-name.ts";

interface Entry {
  readonly username?: string;
  readonly password?: string;
  readonly auth?: string;
}

/** What might open the image's registry, the most exact first. */
export function credentialsFor(
  { registry, repository }: ImageName,
  secrets: readonly Secret[],
  dialect: Dialect,
): AuthConfig[] {
  const found: { readonly length: number; readonly auth: AuthConfig }[] = [];
  for (const secret of secrets) {
    for (const [server, entry] of Object.entries(entriesOf(secret, dialect))) {
      const place = server
        .replace(/^https?:\/\//, "")
        .replace(/\/v[12]\/?$/, "")
        .replace(/\/$/, "")
        .replace(/^(www\.)?index\.docker\.io$/, "docker.io");
      if (matches(place, registry, repository)) found.push({ length: place.length, auth: authOf(entry) });
    }
  }
  return found.toSorted((a, b) => b.length - a.length).map(({ auth }) => auth);
}

function entriesOf(secret: Secret, { names }: Dialect): Readonly<Record<string, Entry>> {
  const text = (key: string): string => Buffer.from(String(secret.data?.[key] ?? ""), "base64").toString();
  try {
    if (secret.type === names.secretTypes.dockerConfigJson)
      return (JSON.parse(text(".dockerconfigjson")) as { auths?: Record<string, Entry> }).auths ?? {};
    if (secret.type === names.secretTypes.dockerConfig)
      return JSON.parse(text(".dockercfg")) as Record<string, Entry>;
  } catch {
    // A broken secret opens nothing; the pull's own failure tells the user.
  }
  return {};
}

/** Whether an entry's place covers an image: the host may have * in its parts, a path must be a beginning. */
function matches(place: string, registry: string, repository: string): boolean {
  const slash = place.indexOf("/");
  const host = slash < 0 ? place : place.slice(0, slash);
  const path = slash < 0 ? "" : place.slice(slash + 1);
  const [wanted, given] = [registry.split("."), host.split(".")];
  const sameHost =
    wanted.length === given.length &&
    given.every((part, at) =>
      new RegExp(`^${part.replace(/[+?^${}()|[\]\\]/g, "\\$&").replaceAll("*", "[^.]*")}$`).test(wanted[at]!),
    );
  return sameHost && (path === "" || repository === path || repository.startsWith(`${path}/`));
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
