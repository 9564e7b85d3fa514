// What kube-apiserver says of a value of the wrong type that it converts from data instead of decoding it from
// JSON: merge patches by strategy, and applied configurations.

const mismatch = /^json: cannot unmarshal (\w+)(?: (\S+))? into Go .* of type (.+)$/;
const goKinds: Readonly<Record<string, string>> = { array: "slice", object: "map" };
const goTypes: Readonly<Record<string, string>> = {
  array: "[]interface {}",
  object: "map[string]interface {}",
};

/** The words of the decoder, as the converter puts them. */
export function converterWords(decodeMessage: string): string {
  const [, kind = "", literal = "", type = ""] = mismatch.exec(decodeMessage) ?? [];
  if (kind === "") return decodeMessage;
  const number = /[.eE]/.test(literal) ? "float64" : "int64";
  const given = kind === "number" ? number : (goKinds[kind] ?? kind);
  if (type.startsWith("map[")) return `cannot restore map from ${given}`;
  if (type.startsWith("[]")) return `cannot restore slice from ${given}`;
  if (type.includes(".")) return `cannot restore struct from: ${given}`;
  return `cannot convert ${kind === "number" ? number : (goTypes[kind] ?? kind)} to ${type}`;
}
