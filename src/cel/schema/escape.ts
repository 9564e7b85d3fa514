// Field names as identifiers: characters that an identifier cannot contain are escaped as `__dash__`,
// `__dot__` and so on.

const reserved = new Set(
  (
    "true false null in as break const continue else for function if import let loop package namespace " +
    "return var void while"
  ).split(" "),
);
const escapes: Readonly<Record<string, string>> = {
  __: "__underscores__",
  ".": "__dot__",
  "-": "__dash__",
  "/": "__slash__",
};
const names = new Map(Object.entries(escapes).map(([text, name]) => [name, text]));

/** Returns the identifier of a field; undefined if the name cannot be escaped. */
export function escapeName(name: string): string | undefined {
  if (!/^[A-Za-z_./-][A-Za-z0-9_./-]*$/.test(name)) return undefined;
  if (reserved.has(name)) return `__${name}__`;
  return name.replaceAll(/__|[-./]/g, (found) => escapes[found]!);
}

/** Returns the field name of an identifier; undefined if it contains an invalid escape. */
export function unescapeName(identifier: string): string | undefined {
  let valid = true;
  const name = identifier.replaceAll(/__[^_]+__/g, (found) => {
    const text = names.get(found);
    if (text !== undefined) return text;
    const word = found.slice(2, -2);
    if (!reserved.has(word) || found !== identifier) valid = false;
    return word;
  });
  return valid ? name : undefined;
}
