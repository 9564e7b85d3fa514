// The subset of OpenAPI schema objects that declarations need, for versions 2 and 3.

export type OpenApiVersion = "v2" | "v3";

export interface SchemaObject {
  readonly description?: string;
  readonly type?: "object" | "array" | "string" | "integer" | "number" | "boolean";
  readonly format?: string;
  readonly default?: unknown;
  readonly enum?: readonly string[];
  readonly $ref?: string;
  readonly allOf?: readonly SchemaObject[];
  readonly oneOf?: readonly SchemaObject[];
  readonly items?: SchemaObject;
  readonly additionalProperties?: SchemaObject;
  readonly properties?: Readonly<Record<string, SchemaObject>>;
  readonly required?: readonly string[];
  readonly [extension: `x-${string}`]: unknown;
}
