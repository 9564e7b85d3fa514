// Short hashes of pod templates, used in names and label values.
import { isDeepStrictEqual } from "node:util";
import type { PodTemplateSpec } from "#api";
import { withoutUndefined } from "#controllerkit";

/** Label that identifies the replica set a pod belongs to. */
export const hashLabel = "pod-template-hash";

/** Letters and digits that form no words and are not easily confused with each other. */
const alphabet = "bcdfghjklmnpqrstvwxz2456789";

/** Serializes a value with sorted keys, so that equal values have equal texts. */
export function canonicalText(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonicalText).join(",")}]`;
  if (value !== null && typeof value === "object")
    return `{${Object.entries(value)
      .filter(([, each]) => each !== undefined)
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([key, each]) => `${JSON.stringify(key)}:${canonicalText(each)}`)
      .join(",")}}`;
  return JSON.stringify(value ?? null);
}

/** Returns the 32-bit FNV-1a hash. */
export function fnv32(text: string): number {
  let hash = 0x811c9dc5;
  for (const byte of Buffer.from(text)) hash = Math.imul(hash ^ byte, 0x01000193);
  return hash >>> 0;
}

/** Returns the hash of a revision's data: FNV-1 of its JSON as the original serializes it. */
export function revisionHashOf(data: unknown, collisions: number): string {
  const text = canonicalText(data).replaceAll(
    /[<>&\u2028\u2029]/g,
    (found) => `\\u${found.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
  let hash = 0x811c9dc5;
  for (const byte of Buffer.from(text + String(collisions))) hash = Math.imul(hash, 0x01000193) ^ byte;
  return safeEncode(String(hash >>> 0));
}

/** Maps each character to one of the safe alphabet. */
export const safeEncode = (text: string): string =>
  Array.from(text, (character) => alphabet[character.charCodeAt(0) % alphabet.length]).join("");

/** Returns the hash of a template; `collisions` varies it when the name was taken. */
export const hashOf = (template: unknown, collisions: number | undefined | null): string =>
  safeEncode(String(fnv32(`${canonicalText(template)}${collisions ?? ""}`)));

/** Reports whether two templates are equal, ignoring the hash label. */
export function equalIgnoringHash(a: PodTemplateSpec, b: PodTemplateSpec, label: string): boolean {
  const bare = (template: PodTemplateSpec): unknown => {
    const copy = withoutUndefined(template) as { metadata?: Record<string, unknown>; spec: unknown };
    const labels = { ...(copy.metadata?.["labels"] as object) } as Record<string, unknown>;
    delete labels[label];
    const { creationTimestamp: _, ...metadata } = copy.metadata ?? {};
    return { spec: copy.spec, metadata: { ...metadata, labels } };
  };
  return isDeepStrictEqual(bare(a), bare(b));
}
