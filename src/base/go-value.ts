// Formats decoded JSON as kube-apiserver prints it in errors: Go's `%v`, `%#v` and `%T`. People search for
// these texts.
import { goQuoted } from "./unprintable.ts";

/** The name `encoding/json` uses for a value of the wrong type. */
export const jsonKind = (value: unknown): string =>
  Array.isArray(value) ? "array" : typeof value === "boolean" ? "bool" : typeof value;

/** Prints integers in full and other numbers like `goFloat`. */
export const goNumber = (value: number): string =>
  Number.isSafeInteger(value) ? String(value) : goFloat(value);

/**
 * Prints a finite number like `strconv.FormatFloat(value, 'g', -1, 64)`: numbers of a million or more, or below
 * 0.0001, have an exponent of at least two digits.
 */
export function goFloat(value: number): string {
  const [digits, power] = value.toExponential().split("e") as [string, string];
  const exponent = Number(power);
  if (exponent >= -4 && exponent < 6) return String(value);
  return `${digits}e${exponent < 0 ? "-" : "+"}${String(Math.abs(exponent)).padStart(2, "0")}`;
}

const sortedEntries = (value: object): [string, unknown][] =>
  Object.entries(value)
    .filter(([, each]) => each !== undefined)
    .toSorted(([one], [other]) => (one < other ? -1 : 1));

/** `%v`: `map[a:[1 2] b:<nil>]`. */
export function goPlain(value: unknown): string {
  if (value === null || value === undefined) return "<nil>";
  if (typeof value === "number") return goNumber(value);
  if (typeof value !== "object") return String(value);
  if (Array.isArray(value)) return `[${value.map(goPlain).join(" ")}]`;
  return `map[${sortedEntries(value)
    .map(([key, each]) => `${key}:${goPlain(each)}`)
    .join(" ")}]`;
}

/** `%#v`: `map[string]interface {}{"a":[]interface {}{1, 2}}`. */
export function goSyntax(value: unknown): string {
  if (value === null || value === undefined) return "interface {}(nil)";
  if (typeof value === "string") return goQuoted(value);
  if (typeof value !== "object") return goPlain(value);
  if (Array.isArray(value)) return `[]interface {}{${value.map(goSyntax).join(", ")}}`;
  return `map[string]interface {}{${sortedEntries(value)
    .map(([key, each]) => `${goQuoted(key)}:${goSyntax(each)}`)
    .join(", ")}}`;
}

/** `%T`. Integers that a double cannot represent exactly are decoded to bigints, not to numbers. */
export function goType(value: unknown): string {
  if (value === null || value === undefined) return "<nil>";
  if (Array.isArray(value)) return "[]interface {}";
  switch (typeof value) {
    case "number":
      return Number.isSafeInteger(value) ? "int64" : "float64";
    case "bigint":
      return "int64";
    case "boolean":
      return "bool";
    case "object":
      return "map[string]interface {}";
    default:
      return typeof value;
  }
}

/** `%#v` of bytes: `[]byte{0x61, 0x62}`. */
export const goBytes = (bytes: Uint8Array | undefined): string =>
  bytes === undefined
    ? "[]byte(nil)"
    : `[]byte{${Array.from(bytes, (byte) => `0x${byte.toString(16)}`).join(", ")}}`;
