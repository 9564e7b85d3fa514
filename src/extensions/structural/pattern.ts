// Regular expressions of schemas, in the syntax of the reference's language, run by ours.

const classes: Readonly<Record<string, string>> = {
  alnum: "0-9A-Za-z",
  alpha: "A-Za-z",
  ascii: "\\x00-\\x7F",
  blank: "\\t ",
  cntrl: "\\x00-\\x1F\\x7F",
  digit: "0-9",
  graph: "!-~",
  lower: "a-z",
  print: " -~",
  punct: "!-\\/:-@\\[-`{-~",
  space: "\\t\\n\\v\\f\\r ",
  upper: "A-Z",
  word: "0-9A-Za-z_",
  xdigit: "0-9A-Fa-f",
};

/** What is not in that syntax although ours has it. */
const unsupported = /\(\?(?:[=!]|<[=!])|\\[1-9]|\\k</;

/** Compiles a pattern; throws a SyntaxError that says what is wrong with it. */
export function compilePattern(pattern: string): RegExp {
  const bare = pattern.replace(/\\\\/g, "");
  if (unsupported.test(bare))
    throw new SyntaxError(`error parsing regexp: invalid or unsupported Perl syntax: \`${pattern}\``);
  let flags = "u";
  let source = pattern;
  const leading = /^\(\?([imsU]+)\)/.exec(source);
  if (leading) {
    source = source.slice(leading[0].length);
    for (const flag of leading[1]!) if (flag !== "U") flags += flag;
  }
  source = source
    .replace(/\(\?P</g, "(?<")
    .replace(/\\A/g, "^")
    .replace(/\\z/g, "$")
    .replace(/\[:(\^?)(\w+):\]/g, (whole, not: string, name: string) =>
      not === "" ? (classes[name] ?? whole) : whole,
    );
  try {
    return new RegExp(source, flags);
  } catch {
    // Escapes that mean nothing special are errors only in the stricter mode.
    return new RegExp(source, flags.replace("u", ""));
  }
}
