// Reasons for settings that are validated and then rejected unless they have the default value, so that none is
// silently ignored.

import type { Dialect } from "#dialect";

export const later = {
  cloud: "no cloud provider is built in",
} as const;

/** Returns the deprecation text of a flag that has moved to the configuration file. */
export const inFile = (path: string, dialect: Dialect): string =>
  `set ${dialect.spelling.field(path)} in the file of --config instead`;
