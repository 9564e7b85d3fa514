// Build information. The build writes it next to its output; it is read once, on first use.
import { readFileSync } from "node:fs";

export interface BuiltFrom {
  /** Full commit id. */
  readonly commit: string;
  /** "clean", or "dirty" if the sources had been modified since the commit. */
  readonly tree: string;
  /** Commit date rather than build date, so that the same sources always have the same date. */
  readonly date: string;
}

/**
 * Used if the sources have no repository or run unbuilt. Clients parse the date as a time, so it is a valid
 * one.
 */
const unknown: BuiltFrom = { commit: "unknown", tree: "unknown", date: "1970-01-01T00:00:00Z" };

let cached: BuiltFrom | undefined;

// The file is one folder up in every form of the build, bundled or not.
export const builtFrom = (): BuiltFrom => (cached ??= builtFromIn(new URL("../build.json", import.meta.url)));

export function builtFromIn(file: URL): BuiltFrom {
  try {
    return { ...unknown, ...(JSON.parse(readFileSync(file, "utf8")) as Partial<BuiltFrom>) };
  } catch {
    return unknown;
  }
}
