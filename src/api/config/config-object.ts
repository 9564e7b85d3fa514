// Configuration objects in files: kind and apiVersion state what a file contains.
import { type Dialect, apiVersionOf } from "#dialect";
import { type Message, type TypeOf, fromJsonValue, parseYaml } from "#schema";
import { inDialect } from "../in-dialect.ts";

/** A schema with a kind, as configuration files name it. */
export type ConfigKind = Message & {
  readonly kind: {
    readonly group: string;
    readonly branded: boolean;
    readonly version: string;
    readonly kind: string;
  };
};

export interface ConfigObject<K extends ConfigKind> {
  readonly schema: K;
  readonly value: TypeOf<K>;
  /** Unknown and duplicate fields. They do not prevent startup, but should be reported to the operator. */
  readonly warnings: readonly string[];
}

/**
 * Decodes a file that contains one object of the given kinds; instead of text, a decoded value (part of
 * another file) may be given. Errors name the source and the field.
 */
export function configObject<K extends ConfigKind>(
  content: string | { readonly value: unknown },
  source: string,
  kinds: readonly K[],
  dialect: Dialect,
): ConfigObject<K> {
  try {
    const { warnings, ...rest } = decodeConfigObject(content, kinds, dialect);
    return { ...rest, warnings: warnings.map((text) => `${source}: ${text}`) };
  } catch (error) {
    throw new Error(`${source}: ${(error as Error).message}`, { cause: error });
  }
}

/**
 * Like configObject, for callers that add the source to errors themselves. Errors have the wording of
 * kube-apiserver's decoders.
 */
export function decodeConfigObject<K extends ConfigKind>(
  content: string | { readonly value: unknown },
  kinds: readonly K[],
  dialect: Dialect,
  confidential = false,
): ConfigObject<K> {
  const text = typeof content === "string" ? content : JSON.stringify(content.value);
  const { value, duplicate } =
    typeof content === "string" ? parseYaml(content) : { value: content.value, duplicate: [] };
  const { apiVersion, kind } = headerOf(value, confidential ? redacted : text);
  const schema = kinds.find(
    (each) => each.kind.kind === kind && apiVersionOf(dialect, each.kind) === apiVersion,
  );
  if (!schema)
    throw new Error(
      `no kind ${JSON.stringify(kind)} is registered for version ${JSON.stringify(apiVersion)}`,
    );
  const decoded = fromJsonValue(inDialect(dialect, schema), value as never);
  return { schema, value: decoded.value, warnings: [...duplicate, ...decoded.strict.toSorted()] };
}

/** Like configObject, but unknown and duplicate fields are errors. */
export function strictConfigObject<K extends ConfigKind>(
  text: string,
  source: string,
  kinds: readonly K[],
  dialect: Dialect,
): TypeOf<K> {
  const { value, warnings } = configObject(text, source, kinds, dialect);
  if (warnings.length === 0) return value;
  const findings = warnings.map((warning) => warning.slice(source.length + 2));
  throw new Error(`${source}: strict decoding error: ${findings.join(", ")}`);
}

const headerType =
  'struct { APIVersion string "json:\\"apiVersion,omitempty\\""; Kind string "json:\\"kind,omitempty\\"" }';

/** Replaces the text of a document with secrets, since error messages are logged. */
export const redacted = "REDACTED";

/** Returns the apiVersion and kind of a document; `text` is shown in the error if they are missing. */
export function headerOf(
  value: unknown,
  text: string,
): { readonly apiVersion: string; readonly kind: string } {
  const given = value ?? {};
  const found = Array.isArray(given) ? "array" : typeof given === "boolean" ? "bool" : typeof given;
  if (found !== "object")
    throw new Error(
      `couldn't get version/kind; json parse error: json: cannot unmarshal ${found} into Go value of type ${headerType}`,
    );
  const { apiVersion, kind } = given as Record<string, unknown>;
  if (typeof kind !== "string" || kind === "") throw new Error(`Object 'Kind' is missing in '${text}'`);
  if (typeof apiVersion !== "string" || apiVersion === "")
    throw new Error(`Object 'apiVersion' is missing in '${text}'`);
  return { apiVersion, kind };
}
