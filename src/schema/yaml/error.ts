// Error for an invalid YAML document.

export class YamlError extends Error {
  override readonly name = "YamlError";
}
