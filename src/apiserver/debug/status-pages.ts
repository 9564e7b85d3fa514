// /statusz and /flagz: human-readable pages with the status of the process and its flags.
import type { PathHandler } from "#endpoints";
import { plainReply } from "#http";
import { durationOfMillis } from "#base";

export interface StatusPagesOptions {
  /** The program's name as given on the command line. */
  readonly program: string;
  readonly version: Readonly<Record<string, string>>;
  /** Milliseconds since the epoch. */
  readonly startedAt: number;
  readonly now: () => number;
  /** Flags as given on the command line, with their values. */
  readonly flags: readonly (readonly [flag: string, value: string])[];
}

const warning =
  "Warning: This endpoint is not meant to be machine parseable, has no formatting compatibility guarantees and is for debugging purposes only.";

export function statusPages(options: StatusPagesOptions): PathHandler {
  const { program, version, startedAt, now, flags } = options;
  return ({ target: { path }, method }) => {
    if (method !== "GET" || (path !== "/statusz" && path !== "/flagz")) return undefined;
    const lines =
      path === "/flagz"
        ? flags.map(([flag, value]) => `${flag}=${value}`)
        : [
            `Started: ${new Date(startedAt).toUTCString()}`,
            `Up: ${durationOfMillis(Math.floor((now() - startedAt) / 1000) * 1000)}`,
            `Runtime version: ${version["goVersion"]}`,
            `Binary version: ${version["gitVersion"]}`,
            `Commit: ${version["gitCommit"]}`,
          ];
    const title = path === "/flagz" ? "flags" : "statusz";
    return plainReply(200, `\n${program} ${title}\n${warning}\n\n${lines.join("\n")}\n`);
  };
}
