// The two dialects, and the one flag that is read before all others.

import type { Dialect, DialectName } from "./dialect.ts";
import { kubernetes } from "./kubernetes.ts";
import { orch } from "./orch.ts";

export const dialects: Readonly<Record<DialectName, Dialect>> = { orch, kubernetes };

/** The one whose names other people's tools have built in. */
export const originalDialect: Dialect = kubernetes;

/** The dialect of that name, or undefined. */
export const dialectNamed = (name: string): Dialect | undefined =>
  Object.hasOwn(dialects, name) ? dialects[name as DialectName] : undefined;

/** The last `--dialect=x` or `--dialect x` before a bare `--`; undefined when not given. */
export function dialectArgument(argv: readonly string[]): string | undefined {
  let found: string | undefined;
  for (let i = 0; i < argv.length && argv[i] !== "--"; i++) {
    const argument = argv[i]!;
    if (argument.startsWith("--dialect=")) found = argument.slice("--dialect=".length);
    else if (argument === "--dialect") found = argv[++i] ?? "";
  }
  return found;
}

/** The dialect that a command line asks for, orch unless told otherwise; or what is wrong with the asking. */
export function chosenDialect(
  argv: readonly string[],
): { readonly dialect: Dialect } | { readonly problem: string } {
  const name = dialectArgument(argv) ?? orch.name;
  const dialect = dialectNamed(name);
  return dialect
    ? { dialect }
    : { problem: `--dialect=${name}: must be ${Object.keys(dialects).join(" or ")}` };
}
