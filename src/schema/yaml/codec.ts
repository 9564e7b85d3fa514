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

/** All keys that stand twice, in one sentence. */
export const duplicateSentence = (duplicate: readonly string[]): string =>
  `yaml: unmarshal errors:\n  ${duplicate.join("\n  ")}`;

/** What strict reading found, of any form, in one sentence: keys that stand twice in YAML are one finding of it. */
export function strictSentence(findings: readonly string[]): string {
  const inYaml = findings.filter((text) => text.startsWith("line "));
  if (inYaml.length === 0) return findings.join(", ");
  return [duplicateSentence(inYaml), ...findings.filter((text) => !text.startsWith("line "))].join(", ");
}

/**
 * Reads a document of the declared kind. Keys that stand twice are reported first, with their lines; the last
 * one counts. What else is found is told in the order of its keys.
 */
export function decodeYaml<M extends Message>(message: M, input: string | Uint8Array): Decoded<TypeOf<M>> {
  const { value, duplicate } = parseYaml(input);
  const decoded = fromJsonValue(message, value === null ? {} : value);
  return duplicate.length === 0 && decoded.strict.length < 2
    ? decoded
    : {
        ...decoded,
        duplicate,
        // Those of kinds that are defined at run time come sorted, metadata inside of objects last.
        strict: [...duplicate, ...(message.more.open ? decoded.strict : decoded.strict.toSorted())],
      };
}

export function encodeYaml<M extends Message>(message: M, value: TypeOf<M>): string {
  return printYaml(canonical(message, value));
}
