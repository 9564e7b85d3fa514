// The `fieldPath` of a validation rule: a JSON path of names and quoted keys, `.spec.labels['a.b']`, relative
// to the schema that contains the rule.
import { type SchemaProps, isObject } from "./structural.ts";

const token = /'(?:[^'\\]|\\.)*'?|[.[\]]|[^.[\]]+/gsu;

/** Splits a path into names and delimiters. */
export const pathTokens = (path: string): readonly string[] => path.match(token) ?? [];

/**
 * Returns the path as errors show it, `spec.labels[a.b]`, or undefined if it is invalid or names no field of
 * the schema.
 */
export function fieldPathOf(path: string, schema: SchemaProps): string | undefined {
  const tokens = pathTokens(path);
  let shown = "";
  let at: unknown = schema;
  for (let i = 0; i < tokens.length;) {
    const quoted = tokens[i] === "[";
    if (!quoted && tokens[i] !== ".") return undefined;
    const name = quoted ? unquoted(tokens[i + 1]) : tokens[i + 1];
    if (name === undefined || !isObject(at) || (quoted && tokens[i + 2] !== "]")) return undefined;
    const { properties, additionalProperties } = at;
    if (isObject(properties) && Object.keys(properties).length > 0) {
      if (!Object.hasOwn(properties, name)) return undefined;
      shown += shown === "" ? name : `.${name}`;
      at = properties[name];
    } else if (additionalProperties !== undefined) {
      shown += `[${name}]`;
      at = additionalProperties;
    } else return undefined;
    i += quoted ? 3 : 2;
  }
  return shown;
}

const escapes: Readonly<Record<string, string>> = {
  a: "\u0007",
  b: "\b",
  f: "\f",
  n: "\n",
  r: "\r",
  t: "\t",
  v: "\v",
  "'": "'",
  "\\": "\\",
};

function unquoted(text: string | undefined): string | undefined {
  if (text === undefined || text.length < 2 || !text.startsWith("'") || !text.endsWith("'")) return undefined;
  const inner = text.slice(1, -1);
  const known = [...inner.matchAll(/\\(.)/gsu)].every(([, letter]) => Object.hasOwn(escapes, letter!));
  return known ? inner.replaceAll(/\\(.)/gsu, (_, letter: string) => escapes[letter]!) : undefined;
}
