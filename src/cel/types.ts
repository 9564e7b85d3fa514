// The types of the expression language, as inferred, printed and compared by the checker.

export type CelType =
  | { readonly kind: SimpleKind }
  | { readonly kind: "list"; readonly elem: CelType }
  | { readonly kind: "map"; readonly key: CelType; readonly value: CelType }
  | ObjectType
  | { readonly kind: "param"; readonly name: string }
  | { readonly kind: "type"; readonly of?: CelType }
  | { readonly kind: "abstract"; readonly name: string; readonly params: readonly CelType[] };

export type SimpleKind =
  | "dyn"
  | "error"
  | "absent"
  | "null"
  | "bool"
  | "int"
  | "uint"
  | "double"
  | "string"
  | "bytes"
  | "timestamp"
  | "duration";

/** Object types are identical if their names are equal. */
export interface ObjectType {
  readonly kind: "object";
  readonly name: string;
  readonly fields: ReadonlyMap<string, CelType>;
  /** The type is declared by a library and has only methods. */
  readonly opaque?: true;
}

const simple = (kind: SimpleKind): CelType => ({ kind });

export const types = {
  dyn: simple("dyn"),
  error: simple("error"),
  /** The result of calling an undeclared member: not a type, so that it matches nothing. */
  absent: simple("absent"),
  null: simple("null"),
  bool: simple("bool"),
  int: simple("int"),
  uint: simple("uint"),
  double: simple("double"),
  string: simple("string"),
  bytes: simple("bytes"),
  timestamp: simple("timestamp"),
  duration: simple("duration"),
} as const;

export const listOf = (elem: CelType): CelType => ({ kind: "list", elem });
export const mapOf = (key: CelType, value: CelType): CelType => ({ kind: "map", key, value });
/** Returns an object type with the given fields, or with methods only. */
export const objectType = (name: string, fields?: Readonly<Record<string, CelType>>): ObjectType => ({
  kind: "object",
  name,
  fields: new Map(Object.entries(fields ?? {})),
  ...(!fields && { opaque: true }),
});
export const typeParam = (name: string): CelType => ({ kind: "param", name });
export const typeOf = (of?: CelType): CelType => (of ? { kind: "type", of } : { kind: "type" });
export const abstractType = (name: string, params: readonly CelType[] = []): CelType => ({
  kind: "abstract",
  name,
  params,
});

export const optionalType = (of: CelType): CelType => abstractType("optional_type", [of]);
/** Returns the parameter of an optional type; undefined for other types. */
export const insideOptional = (type: CelType): CelType | undefined =>
  type.kind === "abstract" && type.name === "optional_type" ? type.params[0] : undefined;

export const isDyn = (type: CelType): boolean => type.kind === "dyn";
export const isDynOrError = (type: CelType): boolean => type.kind === "dyn" || type.kind === "error";

/** Formats a type as in the reference's messages. */
export function formatType(type: CelType): string {
  switch (type.kind) {
    case "list":
      return `list(${formatType(type.elem)})`;
    case "map":
      return `map(${formatType(type.key)}, ${formatType(type.value)})`;
    case "object":
    case "param":
      return type.name;
    case "type":
      return `type(${type.of ? formatType(type.of) : ""})`;
    case "abstract":
      return type.params.length === 0 ? type.name : `${type.name}(${type.params.map(formatType).join(", ")})`;
    case "error":
      return "!error!";
    case "absent":
      return "<nil>";
    default:
      return type.kind;
  }
}

/** Formats a type as protobuf text, which one of the reference's messages uses. */
export function protoText(type: CelType): string {
  switch (type.kind) {
    case "list":
      return `list_type:{elem_type:{${protoText(type.elem)}}}`;
    case "map":
      return `map_type:{key_type:{${protoText(type.key)}} value_type:{${protoText(type.value)}}}`;
    case "object":
      return `message_type:"${type.name}"`;
    case "param":
      return `type_param:"${type.name}"`;
    case "type":
      return `type:{${type.of ? protoText(type.of) : ""}}`;
    case "abstract":
      return `abstract_type:{name:"${type.name}"}`;
    case "int":
    case "uint":
      return `primitive:${type.kind.toUpperCase()}64`;
    case "timestamp":
    case "duration":
      return `well_known:${type.kind.toUpperCase()}`;
    case "null":
      return "null:NULL_VALUE";
    case "absent":
      return "<nil>";
    case "dyn":
    case "error":
      return `${type.kind}:{}`;
    default:
      return `primitive:${type.kind.toUpperCase()}`;
  }
}

export function sameType(left: CelType, right: CelType): boolean {
  if (left === right) return true;
  if (left.kind !== right.kind) return false;
  switch (left.kind) {
    case "list":
      return right.kind === "list" && sameType(left.elem, right.elem);
    case "map":
      return right.kind === "map" && sameType(left.key, right.key) && sameType(left.value, right.value);
    case "object":
    case "param":
      return right.kind === left.kind && left.name === right.name;
    case "type":
      return (
        right.kind === "type" && (left.of && right.of ? sameType(left.of, right.of) : left.of === right.of)
      );
    case "abstract":
      return (
        right.kind === "abstract" &&
        left.name === right.name &&
        left.params.length === right.params.length &&
        left.params.every((param, index) => sameType(param, right.params[index]!))
      );
    default:
      return true;
  }
}
