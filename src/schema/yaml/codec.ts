// YAML in and out: a document is read as the JSON it stands for, and printed from canonical form.

import type { TypeOf } from "../infer.ts";
import { type Decoded, canonical, fromJsonValue } from "../json/codec.ts";
import { stringifyJson } from "../json/stringify.ts";
import type { Message } from "../shape.ts";
import { YamlError } from "./error.ts";
import { parseYaml } from "./parse.ts";
import { printYaml } from "./print.ts";

/** The JSON text a YAML text stands for. Duplicate keys are refused. */
export function yamlToJson(input: string | Uint8Array): string {
  const { value, duplicate } = parseYaml(input);
  if (duplicate.length > 0) throw new YamlError(duplicateSentence(duplicate));
  return stringifyJson(value);
}

const duplicateSentence = (duplicate: readonly string[]): string =>
  `yaml: unmarshal errors:\n  ${duplicate.join("\n  ")}`;

/**
 * Reads a document of the declared kind. Keys that stand twice are reported first, with their lines; the last
 * one counts. What else is found is told in the order of its keys.
 */
export function decodeYaml<M extends Message>(message: M, input: string | Uint8Array): Decoded<TypeOf<M>> {
  const { value, duplicate } = parseYaml(input);
  const decoded = fromJsonValue(message, value === null ? {} : value);
  return duplicate.length === 0 && decoded.strict.length < 2
    ? decoded
    : { ...decoded, duplicate, strict: [...duplicate, ...decoded.strict.toSorted()] };
}

export function encodeYaml<M extends Message>(message: M, value: TypeOf<M>): string {
  return printYaml(canonical(message, value));
}
