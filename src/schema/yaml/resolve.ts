// Resolves plain scalars as Go's yaml.v2 does: the booleans of YAML 1.1 and numbers in Go's spelling (0777,
// 0o17, 0x1F, 0b11, 1_000). Dates stay strings.

import { YamlError } from "./error.ts";

const words = new Map<string, boolean | null | number>();
const spell = (value: boolean | null | number, ...spellings: string[]): void =>
  spellings.forEach((word) => words.set(word, value));
spell(true, "y", "Y", "yes", "Yes", "YES", "true", "True", "TRUE", "on", "On", "ON");
spell(false, "n", "N", "no", "No", "NO", "false", "False", "FALSE", "off", "Off", "OFF");
spell(null, "", "~", "null", "Null", "NULL");
spell(NaN, ".nan", ".NaN", ".NAN");
spell(Infinity, ".inf", ".Inf", ".INF", "+.inf", "+.Inf", "+.INF");
spell(-Infinity, "-.inf", "-.Inf", "-.INF");

export type YamlScalar = string | boolean | null | number | bigint;

/** Returns the value of an unquoted scalar. */
export function resolvePlain(text: string): YamlScalar {
  const word = words.get(text);
  if (word !== undefined) return word;
  const first = text.charCodeAt(0);
  if (first === 46) return floatOf(text) ?? text;
  if (first !== 43 && first !== 45 && !(first >= 48 && first <= 57)) return text;
  const plain = text.replaceAll("_", "");
  return integerOf(plain) ?? floatOf(plain) ?? text;
}

const integer = /^([-+]?)(?:0[xX]([0-9a-fA-F]+)|0[oO]?([0-7]+)|0[bB]([01]+)|(0|[1-9][0-9]*))$/;
const int64Least = -(1n << 63n);
const uint64Most = (1n << 64n) - 1n;

function integerOf(text: string): number | bigint | undefined {
  const found = text.length < 80 ? integer.exec(text) : null;
  if (!found) return undefined;
  const [, sign, hexadecimal, octal, binary, decimal] = found;
  const magnitude = BigInt(
    hexadecimal !== undefined
      ? `0x${hexadecimal}`
      : octal !== undefined
        ? `0o${octal}`
        : binary !== undefined
          ? `0b${binary}`
          : decimal!,
  );
  const exact = sign === "-" ? -magnitude : magnitude;
  if (exact < int64Least || exact > uint64Most) return undefined;
  const small = Number(exact);
  return Number.isSafeInteger(small) ? small : exact;
}

const decimalFloat = /^[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?$/;

function floatOf(text: string): number | undefined {
  if (!decimalFloat.test(text)) return undefined;
  const value = Number(text);
  return Number.isFinite(value) ? value : undefined;
}

const longPrefix = "tag:yaml.org,2002:";

/** Returns the short form of a tag: `!!str`. */
export function shortTag(tag: string): string {
  const verbatim = tag.startsWith("!<") ? tag.slice(2, -1) : tag;
  return verbatim.startsWith(longPrefix) ? `!!${verbatim.slice(longPrefix.length)}` : verbatim;
}

const kindOf = (value: YamlScalar): string => {
  switch (typeof value) {
    case "boolean":
      return "!!bool";
    case "number":
      return Number.isInteger(value) ? "!!int" : "!!float";
    case "bigint":
      return "!!int";
    case "string":
      return "!!str";
    default:
      return "!!null";
  }
};

/** Returns the value of a tagged scalar. Unknown tags leave the text unchanged. */
export function resolveTagged(tag: string, text: string): YamlScalar {
  switch (tag) {
    case "!!bool":
    case "!!int":
    case "!!float":
    case "!!null": {
      const value = resolvePlain(text);
      if (kindOf(value) === tag || (tag === "!!float" && typeof value === "number")) return value;
      throw new YamlError(`yaml: cannot decode ${kindOf(value)} \`${text}\` as a ${tag}`);
    }
    case "!!binary":
      if (!/^[A-Za-z0-9+/\s]*(?:={1,2}\s*)?$/.test(text))
        throw new YamlError("yaml: !!binary value contains invalid base64 data");
      return Buffer.from(text, "base64").toString("utf8");
    default:
      return text;
  }
}
