// What is wrong with a YAML document.

export class YamlError extends Error {
  override readonly name = "YamlError";
}
