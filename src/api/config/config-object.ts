// Configuration objects that lie in files: the header says which kind and version a file holds.
import { type Dialect, apiVersionOf } from "#dialect";
import { type Message, type TypeOf, fromJsonValue, parseYaml } from "#schema";
import { inDialect } from "../in-dialect.ts";

/** A schema that has a kind, as configuration files name it. */
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
  /** Unknown and repeated fields. They do not stop a server, but somebody should know. */
  readonly warnings: readonly string[];
}

/**
 * Reads a file that holds one object of the given kinds; a value that is already decoded (part of another
 * file) may be given instead of text. Throws naming the source and the field.
 */
export function configObject<K extends ConfigKind>(
  content: string | { readonly value: unknown },
  source: string,
  kinds: readonly K[],
  dialect: Dialect,
): ConfigObject<K> {
  try {
    const parsed = typeof content === "string" ? parseYaml(content) : { value: content.value, duplicate: [] };
    const { value, duplicate } = parsed;
    const { apiVersion, kind } = headerOf(value);
    const schema = kinds.find(
      (each) => each.kind.kind === kind && apiVersionOf(dialect, each.kind) === apiVersion,
    );
    if (!schema) {
      const known = kinds.map((each) => `${each.kind.kind} of ${apiVersionOf(dialect, each.kind)}`);
      throw new Error(
        `no kind ${JSON.stringify(kind)} is known for apiVersion ${JSON.stringify(apiVersion)}; expected ${known.join(" or ")}`,
      );
    }
    const decoded = fromJsonValue(inDialect(dialect, schema), value as never);
    return {
      schema,
      value: decoded.value,
      warnings: [...duplicate, ...decoded.strict.toSorted()].map((text) => `${source}: ${text}`),
    };
  } catch (error) {
    throw new Error(`${source}: ${(error as Error).message}`, { cause: error });
  }
}

/** The same for files in which unknown and repeated fields are errors. */
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

function headerOf(value: unknown): { readonly apiVersion: string; readonly kind: string } {
  if (typeof value !== "object" || value === null || Array.isArray(value))
    throw new Error("expected an object with apiVersion and kind");
  const { apiVersion, kind } = value as Record<string, unknown>;
  if (typeof kind !== "string" || kind === "") throw new Error("kind is missing");
  if (typeof apiVersion !== "string" || apiVersion === "") throw new Error("apiVersion is missing");
  return { apiVersion, kind };
}
