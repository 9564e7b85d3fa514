// The grammar of a command line: `--flag value`, `--flag=value`, `--flag`, `-v 4`, `-v=4`, `-v4`, `--` and
// arguments.

export interface FlagGrammar {
  /** Returns the canonical name of a flag by its spelling, or undefined. */
  resolve(spelled: string): string | undefined;
  /** Returns the canonical name of a one-letter flag. */
  short(letter: string): string | undefined;
  /** Returns the value of a flag without one; undefined if it takes the next argument. */
  bare(flag: string): string | undefined;
}

export interface GivenFlag {
  readonly flag: string;
  /** As given on the command line: `--etc-servers`, `-v`. */
  readonly spelled: string;
  readonly text: string;
}
export type GrammarProblem =
  | { readonly wrong: "unknown"; readonly spelled: string; readonly letter?: string }
  | { readonly wrong: "no value"; readonly spelled: string; readonly letter?: string }
  | { readonly wrong: "not a flag"; readonly spelled: string }
  | { readonly wrong: "syntax"; readonly spelled: string };

export interface ParsedArguments {
  readonly given: readonly GivenFlag[];
  readonly problems: readonly GrammarProblem[];
}

/** Replaces underscores with dashes. */
export const normalFlag = (spelled: string): string => spelled.replaceAll("_", "-");

export function parseArguments(argv: readonly string[], grammar: FlagGrammar): ParsedArguments {
  const given: GivenFlag[] = [];
  const problems: GrammarProblem[] = [];
  for (let i = 0; i < argv.length; i++) {
    const argument = argv[i]!;
    const take = (flag: string, spelled: string, attached: string | undefined, letter?: string): void => {
      const bare = grammar.bare(flag);
      if (attached !== undefined) given.push({ flag, spelled, text: attached });
      else if (bare !== undefined) given.push({ flag, spelled, text: bare });
      else if (i + 1 < argv.length) given.push({ flag, spelled, text: argv[++i]! });
      else problems.push({ wrong: "no value", spelled, ...(letter !== undefined && { letter }) });
    };
    if (argument === "--") {
      problems.push(...argv.slice(i + 1).map((spelled) => ({ wrong: "not a flag", spelled }) as const));
      break;
    }
    if (argument.startsWith("--")) {
      const cut = argument.indexOf("=");
      const spelled = cut < 0 ? argument : argument.slice(0, cut);
      const flag = grammar.resolve(normalFlag(spelled.slice(2)));
      if (spelled === "--" || spelled.startsWith("---"))
        problems.push({ wrong: "syntax", spelled: argument });
      else if (flag === undefined) problems.push({ wrong: "unknown", spelled });
      else take(flag, spelled, cut < 0 ? undefined : argument.slice(cut + 1));
    } else if (argument.startsWith("-") && argument.length > 1) {
      shorts(argument);
    } else problems.push({ wrong: "not a flag", spelled: argument });

    function shorts(group: string): void {
      for (let at = 1; at < group.length; at++) {
        const spelled = `-${group[at]}`;
        const flag = grammar.short(group[at]!);
        if (flag === undefined) {
          problems.push({ wrong: "unknown", spelled: `-${group.slice(at)}`, letter: group[at]! });
          return;
        }
        const rest = group.slice(at + 1);
        if (rest.startsWith("=")) return take(flag, spelled, rest.slice(1));
        if (grammar.bare(flag) === undefined) return take(flag, spelled, rest || undefined, group[at]);
        take(flag, spelled, undefined);
      }
    }
  }
  return { given, problems };
}
