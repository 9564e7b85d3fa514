// YAML encoding and decoding: a document is decoded as the equivalent JSON and printed from canonical form.

import type { TypeOf } from "../infer.ts";
import { type Decoded, canonical, fromJsonValue } from "../json/codec.ts";
import { stringifyJson } from "../json/stringify.ts";
import type { Message } from "../shape.ts";
import { YamlError } from "./error.ts";
import { parseYaml } from "./parse.ts";
import { printYaml } from "./print.ts";

/** Converts a YAML text to JSON. Duplicate keys are rejected. */
export function yamlToJson(input: string | Uint8Array): string {
  const { value, duplicate } = parseYaml(input);
  if (duplicate.length > 0) throw new YamlError(duplicateKeysMessage(duplicate));
  return stringifyJson(value);
}

/** Reports all duplicate keys in one message. */
export const duplicateKeysMessage = (duplicate: readonly string[]): string =>
  `yaml: unmarshal errors:\n  ${duplicate.join("\n  ")}`;

/**
 * Joins the findings of strict decoding, from JSON or YAML, into one message. Duplicate YAML keys form a
 * single finding.
 */
export function strictMessage(findings: readonly string[]): string {
  const inYaml = findings.filter((text) => text.startsWith("line "));
  if (inYaml.length === 0) return findings.join(", ");
  return [duplicateKeysMessage(inYaml), ...findings.filter((text) => !text.startsWith("line "))].join(", ");
}

/**
 * Decodes a document of the declared kind. Duplicate keys are reported first, with their lines; the last one
 * wins. Other findings are reported in key order.
 */
export function decodeYaml<M extends Message>(message: M, input: string | Uint8Array): Decoded<TypeOf<M>> {
  const { value, duplicate } = parseYaml(input);
  const decoded = fromJsonValue(message, value === null ? {} : value);
  return duplicate.length === 0 && decoded.strict.length < 2
    ? decoded
    : {
        ...decoded,
        duplicate,
        // Findings for kinds defined at run time are already sorted, with metadata of embedded objects last.
        strict: [...duplicate, ...(message.more.open ? decoded.strict : decoded.strict.toSorted())],
      };
}

export function encodeYaml<M extends Message>(message: M, value: TypeOf<M>): string {
  return printYaml(canonical(message, value));
}
