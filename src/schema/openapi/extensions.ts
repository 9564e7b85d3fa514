// What a schema says beyond OpenAPI. Version 3 says it in the clients' spelling too: newer command-line
// clients read nothing else.

import type { Dialect } from "#dialect";
import type { OpenApiVersion } from "./schema-object.ts";

export type Extensions = Readonly<Record<`x-${string}`, unknown>>;

/** The marks under their published names; those without a value are left out. */
export function extensions(
  marks: Readonly<Record<string, unknown>>,
  { wire }: Dialect,
  version: OpenApiVersion,
): Extensions {
  const prefixes =
    version === "v3"
      ? [...new Set([wire.extensionPrefix, wire.clientExtensionPrefix])]
      : [wire.extensionPrefix];
  const told = Object.entries(marks).filter(([, value]) => value !== undefined);
  return Object.fromEntries(
    prefixes.flatMap((prefix) => told.map(([name, value]) => [prefix + name, value])),
  );
}
