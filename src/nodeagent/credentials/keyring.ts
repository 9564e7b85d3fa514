// Selects the credentials to try for an image by the registry location they apply to, the most specific
// first, in the kubelet's order.
import type { AuthConfig } from "#cri";
import { imageMatches, parseLocation } from "./image-pattern.ts";

/** Credentials by registry location, as in a Docker configuration file. */
export type RegistryAuths = readonly (readonly [place: string, auth: AuthConfig])[];

const defaultRegistry = "index.docker.io";

/** Returns the credentials for an image, with or without tag and digest. Earlier sets take precedence. */
export function credentialsFor(image: string, sets: readonly RegistryAuths[]): AuthConfig[] {
  const byLocation = new Map<string, AuthConfig[]>();
  for (const auths of sets)
    for (const [place, auth] of auths.toSorted(([a], [b]) => (a < b ? 1 : a > b ? -1 : 0))) {
      const key = keyOf(place);
      if (key !== undefined) byLocation.set(key, [...(byLocation.get(key) ?? []), auth]);
    }
  const locations = [...byLocation.keys()].toSorted((a, b) => (a < b ? 1 : a > b ? -1 : 0));
  const found = locations
    .filter((place) => imageMatches(place, image))
    .flatMap((place) => byLocation.get(place)!);
  return found.length > 0 || !isOfDefaultRegistry(image) ? found : (byLocation.get(defaultRegistry) ?? []);
}

/** Normalizes a location: drops the scheme; `/v1/` and `/v2/` mean the whole registry. */
function keyOf(place: string): string | undefined {
  const plain = place.replace(/^https?:\/\//, "");
  const parts = parseLocation(plain);
  if (!parts) return undefined;
  const path = parts.path.replace(/^\/v[12](?=\/)/, "");
  const authority = plain.slice(0, plain.length - (plain.length - plain.search(/[/?#]|$/)));
  return path === "" || path === "/" ? authority : `${authority}${path}`;
}

/** Reports whether the image is in the default registry, which applies to names without a registry. */
function isOfDefaultRegistry(image: string): boolean {
  const [first = "", rest] = image.split(/\/(.*)/s);
  if (first === "") return false;
  return (
    rest === undefined ||
    rest === "" ||
    first === "docker.io" ||
    first === defaultRegistry ||
    !/[.:]/.test(first)
  );
}
