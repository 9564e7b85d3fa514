// The two dialects, and the --dialect flag, which is parsed before all others.

import type { Dialect, DialectName } from "./dialect.ts";
import { kubernetes } from "./kubernetes.ts";
import { orch } from "./orch.ts";

export const dialects: Readonly<Record<DialectName, Dialect>> = { orch, kubernetes };

/** The dialect whose names are built into third-party tools. */
export const originalDialect: Dialect = kubernetes;

/** Returns the dialect with the name, or undefined. */
export const dialectNamed = (name: string): Dialect | undefined =>
  Object.hasOwn(dialects, name) ? dialects[name as DialectName] : undefined;

/** Returns the last `--dialect=x` or `--dialect x` before a bare `--`; undefined if not given. */
export function dialectArgument(argv: readonly string[]): string | undefined {
  let found: string | undefined;
  for (let i = 0; i < argv.length && argv[i] !== "--"; i++) {
    const argument = argv[i]!;
    if (argument.startsWith("--dialect=")) found = argument.slice("--dialect=".length);
    else if (argument === "--dialect") found = argv[++i] ?? "";
  }
  return found;
}

/** Returns the dialect selected on a command line (orch by default), or an error message. */
export function chosenDialect(
  argv: readonly string[],
): { readonly dialect: Dialect } | { readonly problem: string } {
  const name = dialectArgument(argv) ?? orch.name;
  const dialect = dialectNamed(name);
  return dialect
    ? { dialect }
    : { problem: `--dialect=${name}: must be ${Object.keys(dialects).join(" or ")}` };
}
