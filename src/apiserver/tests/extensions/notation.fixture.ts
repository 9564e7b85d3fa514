// A short notation for custom resource definitions:
//   name:type   an optional field     name!:type  a required one     name:type=value  with a default
// Types: string int bool number quantity (int or string) date-time any (unknown fields are kept),
// a|b|c (one of), [T], {T} (a map of T), [key:T] (a list with a key), (fields ...) (an object).

export interface Described {
  readonly group: string;
  readonly kind: string;
  readonly plural: string;
  readonly version: string;
  readonly cluster?: boolean;
  readonly short?: string;
  readonly spec: string;
  readonly status?: string;
  /** Rules as `[rule, message]`, by the path of their schema. */
  readonly rules?: Readonly<Record<string, readonly (readonly [rule: string, message: string])[]>>;
  /** Columns as `Name=.path`. */
  readonly columns?: string;
  readonly scale?: boolean;
  /** Overrides by path for values of the generated sample that would violate a rule. */
  readonly sample?: Readonly<Record<string, unknown>>;
  /** Changes of the sample that a rule rejects, with a part of its message. */
  readonly refused?: readonly (readonly [path: string, value: unknown, says: string])[];
}

type Schema = Record<string, unknown>;
type Value = Record<string, unknown>;

/** Parses the notation; everything is bounded so that rules have a bounded cost. */
export function schemaOf(notation: string, x: string): Schema {
  const tokens = notation.match(/[()[\]{}]|[^\s()[\]{}]+/g) ?? [];
  let at = 0;
  const expect = (token: string): void => {
    if (tokens[at++] !== token) throw new Error(`${token} expected, not ${tokens[at - 1] ?? "the end"}`);
  };
  const fields = (end: string | undefined): Schema => {
    const properties: Schema = {};
    const required: string[] = [];
    while (at < tokens.length && tokens[at] !== end) {
      const [, name = "", must = "", rest = ""] = /^([^:!]+)(!?):(.*)$/.exec(tokens[at++]!)!;
      if (must) required.push(name);
      properties[name] = { description: `The ${name}.`, ...(rest === "" ? nested() : scalar(rest)) };
    }
    return { type: "object", properties, ...(required.length > 0 && { required }) };
  };
  const nested = (): Schema => {
    const open = tokens[at++];
    if (open === "(") {
      const schema = fields(")");
      expect(")");
      return schema;
    }
    const key = open === "[" && /^[a-z]\w*:$/.test(tokens[at] ?? "") ? tokens[at++]!.slice(0, -1) : undefined;
    const of = /^[([{]$/.test(tokens[at]!) ? nested() : scalar(tokens[at++]!);
    expect(open === "[" ? "]" : "}");
    if (open !== "[") return { type: "object", additionalProperties: of, maxProperties: 32 };
    const list = { type: "array", items: of, maxItems: 16 };
    return key ? { ...list, [`${x}list-type`]: "map", [`${x}list-map-keys`]: [key] } : list;
  };
  const scalar = (text: string): Schema => {
    const [type = "", given] = text.split("=");
    const parsed = type === "int" ? Number(given) : type === "bool" ? given === "true" : given;
    return { ...scalarType(type, x), ...(given !== undefined && { default: parsed }) };
  };
  return fields(undefined);
}

function scalarType(type: string, x: string): Schema {
  switch (type) {
    case "string":
      return { type, maxLength: 253 };
    case "int":
      return { type: "integer", format: "int64" };
    case "bool":
      return { type: "boolean" };
    case "number":
      return { type };
    case "quantity":
      return { [`${x}int-or-string`]: true };
    case "date-time":
      return { type: "string", format: "date-time" };
    case "any":
      return { type: "object", [`${x}preserve-unknown-fields`]: true };
    default:
      return { type: "string", enum: type.split("|") };
  }
}

/** Returns the complete definition. */
export function definitionOf(described: Described, x: string): Value & { metadata: { name: string } } {
  const {
    group,
    kind,
    plural,
    version,
    cluster,
    short,
    spec,
    status,
    rules = {},
    columns,
    scale,
  } = described;
  const properties: Schema = { spec: schemaOf(spec, x), ...(status && { status: schemaOf(status, x) }) };
  const root = { type: "object", description: `A ${kind}.`, required: ["spec"], properties };
  for (const [path, list] of Object.entries(rules)) {
    let schema: Schema = root;
    for (const step of path.split("."))
      schema = (step === "items" ? schema["items"] : (schema["properties"] as Schema)[step]) as Schema;
    schema[`${x}validations`] = list.map(([rule, message]) => ({ rule, message }));
  }
  return {
    metadata: { name: `${plural}.${group}` },
    spec: {
      group,
      scope: cluster ? "Cluster" : "Namespaced",
      names: { plural, kind, ...(short && { shortNames: short.split(",") }) },
      versions: [
        {
          name: version,
          served: true,
          storage: true,
          schema: { openAPIV3Schema: root },
          ...(columns && {
            additionalPrinterColumns: columns.split(";").map((column) => {
              const [name, ...path] = column.split("=");
              return { name, type: "string", jsonPath: path.join("=") };
            }),
          }),
          ...(status && {
            subresources: {
              status: {},
              ...(scale && {
                scale: {
                  specReplicasPath: ".spec.replicas",
                  statusReplicasPath: ".status.replicas",
                  labelSelectorPath: ".status.selector",
                },
              }),
            },
          }),
        },
      ],
    },
  };
}

/** Returns a value with every field of the schema. */
export function sampleOf(schema: Schema): unknown {
  const { type, default: given, enum: choices, properties, items, additionalProperties: values } = schema;
  if (given !== undefined) return given;
  if (choices) return (choices as string[])[0];
  switch (type) {
    case "object":
      if (properties)
        return Object.fromEntries(
          Object.entries(properties).map(([name, inner]) => [name, sampleOf(inner as Schema)]),
        );
      return values ? { key: sampleOf(values as Schema) } : { kept: { as: ["it", "is"] } };
    case "array":
      return [sampleOf(items as Schema)];
    case "integer":
      return 1;
    case "number":
      return 0.5;
    case "boolean":
      return true;
    case "string":
      return schema["format"] === "date-time" ? "2024-02-29T12:00:00Z" : "text";
    default:
      return "25%";
  }
}

/** Returns the value with a replacement at the path; undefined removes it. */
export function withValue(object: Value, path: string, value: unknown): Value {
  const copy = structuredClone(object);
  const steps = path.split(".");
  const last = steps.pop()!;
  const parent = steps.reduce<Value>((found, step) => found[step] as Value, copy);
  if (value === undefined) delete parent[last];
  else parent[last] = value;
  return copy;
}
