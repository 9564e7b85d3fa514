// Credentials by the place they hold for, and which of them an image's registry may accept: the most exact
// place first, as the kubelet tries them.
import type { AuthConfig } from "#cri";
import { imageMatches, placeOf } from "./image-pattern.ts";

/** Places to credentials, as in a docker configuration file. */
export type RegistryAuths = readonly (readonly [place: string, auth: AuthConfig])[];

const defaultRegistry = "index.docker.io";

/** `image` without tag and digest, or with them. Sets of credentials count in their order. */
export function credentialsFor(image: string, sets: readonly RegistryAuths[]): AuthConfig[] {
  const byPlace = new Map<string, AuthConfig[]>();
  for (const auths of sets)
    for (const [place, auth] of auths.toSorted(([a], [b]) => (a < b ? 1 : a > b ? -1 : 0))) {
      const key = keyOf(place);
      if (key !== undefined) byPlace.set(key, [...(byPlace.get(key) ?? []), auth]);
    }
  const places = [...byPlace.keys()].toSorted((a, b) => (a < b ? 1 : a > b ? -1 : 0));
  const found = places.filter((place) => imageMatches(place, image)).flatMap((place) => byPlace.get(place)!);
  return found.length > 0 || !isOfDefaultRegistry(image) ? found : (byPlace.get(defaultRegistry) ?? []);
}

/** A place without its scheme; `/v1/` and `/v2/` are the whole registry. */
function keyOf(place: string): string | undefined {
  const plain = place.replace(/^https?:\/\//, "");
  const parts = placeOf(plain);
  if (!parts) return undefined;
  const path = parts.path.replace(/^\/v[12](?=\/)/, "");
  const authority = plain.slice(0, plain.length - (plain.length - plain.search(/[/?#]|$/)));
  return path === "" || path === "/" ? authority : `${authority}${path}`;
}

/** An image without a registry comes from the usual one. */
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
