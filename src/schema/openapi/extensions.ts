// OpenAPI schema extensions. Version 3 also emits the clients' spelling, the only one that newer command-line
// clients read.

import type { Dialect } from "#dialect";
import type { OpenApiVersion } from "./schema-object.ts";

export type Extensions = Readonly<Record<`x-${string}`, unknown>>;

/** Returns the extensions under their published names; those without a value are omitted. */
export function extensions(
  marks: Readonly<Record<string, unknown>>,
  { wire }: Dialect,
  version: OpenApiVersion,
): Extensions {
  const prefixes =
    version === "v3"
      ? [...new Set([wire.extensionPrefix, wire.clientExtensionPrefix])]
      : [wire.extensionPrefix];
  const present = Object.entries(marks).filter(([, value]) => value !== undefined);
  return Object.fromEntries(
    prefixes.flatMap((prefix) => present.map(([name, value]) => [prefix + name, value])),
  );
}
