// Settings whose mechanism is not there yet are checked, and refused when turned on: nothing is silently
// ignored.

import type { Dialect } from "#dialect";

export const later = {
  cloud: "no cloud provider is built in",
} as const;

/** The advice of a flag that has moved to the configuration file. */
export const inFile = (path: string, dialect: Dialect): string =>
  `set ${dialect.spelling.field(path)} in the file of --config instead`;
