// Words that mark prose a maintainer would have to translate into plain technical English. The list is a
// safety net, not a style guide: see docs/checklists/contributing.md.

const vagueWords =
  /\b(told|tells?|telling|whoever|nobody|somebody|anybody|anew|beside)\b|(?<!there )\b(is|are|was|were) none\b|\bsake of\b|\bin (its|their|our) (own )?words\b|\bwhat there is\b/i;

/** Quoted text and code are not prose: `nobody` is also a user name. */
const quoted = /`[^`]*`|"[^"]*"|'[^']*'/g;

const testName = /\b(?:test|describe|it|suite)\(\s*(?:`([^`]*)`|"([^"]*)"|'([^']*)')/;

/** Returns the comment and the test name on a line of code. */
function proseIn(line: string): string {
  const comment = /^\s*(?:\/\/|\/?\*)/.test(line) ? line : (/\s\/\/ .*/.exec(line)?.[0] ?? "");
  const name = testName.exec(line);
  return `${comment.replaceAll(quoted, "")} ${name?.[1] ?? name?.[2] ?? name?.[3] ?? ""}`;
}

/** Lists lines of code whose comments or test names use vague words. */
export const vagueComments = (file: string, text: string): string[] =>
  vagueWords.test(text) ? found(file, text, proseIn) : [];

/** Lists lines of a document that use vague words. */
export const vagueProse = (file: string, text: string): string[] =>
  found(file, text, (line) => line.replaceAll(quoted, ""));

const found = (file: string, text: string, proseOf: (line: string) => string): string[] =>
  text
    .split("\n")
    .flatMap((line, index) =>
      vagueWords.test(proseOf(line)) ? [`${file}:${index + 1}: ${line.trim().slice(0, 120)}`] : [],
    );
