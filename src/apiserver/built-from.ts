// What this program was built from. The build writes it beside what it made; read once, when somebody asks.
import { readFileSync } from "node:fs";

export interface BuiltFrom {
  /** The commit's whole id. */
  readonly commit: string;
  /** "clean", or "dirty" when the sources had been changed since that commit. */
  readonly tree: string;
  /** When the commit was made: the same sources are always of the same day. */
  readonly date: string;
}

/**
 * Sources without a repository, or run as they are, belong to no commit that anybody could name. Clients read
 * the date as a time, so it is one.
 */
const unknown: BuiltFrom = { commit: "unknown", tree: "unknown", date: "1970-01-01T00:00:00Z" };

let read: BuiltFrom | undefined;

// One folder up from here in every form of the build, packed or not.
export const builtFrom = (): BuiltFrom => (read ??= builtFromIn(new URL("../build.json", import.meta.url)));

export function builtFromIn(file: URL): BuiltFrom {
  try {
    return { ...unknown, ...(JSON.parse(readFileSync(file, "utf8")) as Partial<BuiltFrom>) };
  } catch {
    return unknown;
  }
}
