// Published schemas of declarations. Version 2 allows `$ref` next to other keys. Version 3 wraps the
// reference and shows implied defaults: {} for embedded messages, zero for required scalars and for items.

import { type Dialect, type GroupVersionName, groupName } from "#dialect";
import { flatFields } from "../flat.ts";
import type { Field, FieldExtras, Message, ScalarName, Shape } from "../shape.ts";
import { type Extensions, extensions } from "./extensions.ts";
import type { OpenApiVersion, SchemaObject } from "./schema-object.ts";
import { patchDefinition, specialScalar, unionDefinition } from "./special.ts";

export type Definitions = Readonly<Record<string, SchemaObject>>;

export interface Everywhere {
  /** Messages published for every group and version, such as DeleteOptions. */
  readonly messages: readonly Message[];
  readonly versions: readonly GroupVersionName[];
  /** Kinds that are published under additional versions. */
  readonly elsewhere?: ReadonlyMap<Message, readonly GroupVersionName[]>;
  /** Whether the body of a patch is among the definitions. */
  readonly patch: boolean;
  /** False to omit the enum values of fields. */
  readonly enums?: boolean;
}

/**
 * Returns the schemas of these messages and of all messages they contain, by name. The messages must already
 * be in the dialect.
 */
export function collectDefinitions(
  messages: Iterable<Message>,
  dialect: Dialect,
  version: OpenApiVersion,
  everywhere: Everywhere = { messages: [], versions: [], patch: true },
): Definitions {
  const collector = new Collector(dialect, version, everywhere);
  for (const message of messages) collector.refer(message);
  return collector.definitions();
}

/** Returns the published name of a message: `io.<x>.api.core.v1.Pod`. */
export const schemaName = (message: Message, dialect: Dialect): string =>
  message.more.publishedName ?? `${dialect.wire.schemaPrefix}.${message.package}.${message.name}`;

const places = { v2: "#/definitions/", v3: "#/components/schemas/" } as const;
export const schemaReference = (name: string, version: OpenApiVersion): string => places[version] + name;

/**
 * Returns the group, version and kind under which a message is published, for the group-version-kind
 * extension.
 */
export function publishedKind(
  kind: GroupVersionName & { readonly kind: string },
  dialect: Dialect,
): { readonly group: string; readonly kind: string; readonly version: string } {
  return { group: groupName(dialect, kind), kind: kind.kind, version: kind.version };
}

const scalarTypes: Partial<Record<ScalarName, SchemaObject>> = {
  string: { type: "string" },
  bool: { type: "boolean" },
  int32: { type: "integer", format: "int32" },
  int64: { type: "integer", format: "int64" },
  uint32: { type: "integer", format: "int64" },
  uint64: { type: "integer", format: "int64" },
  double: { type: "number", format: "double" },
  float: { type: "number", format: "float" },
  bytes: { type: "string", format: "byte" },
};
const scalarZeros: Partial<Record<ScalarName, unknown>> = {
  string: "",
  bool: false,
  int32: 0,
  int64: 0,
  uint32: 0,
  uint64: 0,
  double: 0,
  float: 0,
};

class Collector {
  readonly #dialect: Dialect;
  readonly #version: OpenApiVersion;
  readonly #everywhere: Everywhere;
  readonly #found = new Map<string, SchemaObject>();

  constructor(dialect: Dialect, version: OpenApiVersion, everywhere: Everywhere) {
    this.#dialect = dialect;
    this.#version = version;
    this.#everywhere = everywhere;
    if (everywhere.patch) this.#define(patchDefinition);
  }

  definitions(): Definitions {
    return Object.fromEntries([...this.#found].sort(([a], [b]) => (a < b ? -1 : 1)));
  }

  #define({ name, schema }: { readonly name: string; readonly schema: SchemaObject }): string {
    const whole = `${this.#dialect.wire.schemaPrefix}.${name}`;
    if (!this.#found.has(whole)) this.#found.set(whole, schema);
    return schemaReference(whole, this.#version);
  }

  /** Defines a message and everything it contains, once, and returns a reference to it. */
  refer(message: Message): string {
    const name = schemaName(message, this.#dialect);
    if (!this.#found.has(name)) {
      this.#found.set(name, {}); // registered before its fields are collected, as it may contain itself
      this.#found.set(name, this.#message(message));
    }
    return schemaReference(name, this.#version);
  }

  #extensions(marks: Readonly<Record<string, unknown>>): Extensions {
    return extensions(marks, this.#dialect, this.#version);
  }

  #message(message: Message): SchemaObject {
    const { open, selectable } = message.more;
    const selectableFields = selectable?.map((fieldPath) => ({ fieldPath }));
    if (open) {
      const metadata = this.refer(message.fields["metadata"]!.shape as Message);
      const kinds = this.#kinds(message);
      return {
        ...open.published(metadata, this.#version),
        ...this.#extensions({
          "group-version-kind": kinds.length > 0 ? kinds : undefined,
          "selectable-fields": selectableFields,
        }),
      };
    }
    const fields = flatFields(message);
    const required = fields
      .filter(
        ({ field }) =>
          (field.more.published ?? (field.presence === "required" ? "required" : "optional")) === "required",
      )
      .map(({ name }) => name);
    const properties = fields
      .map(({ name, field, owner }) => [name, this.#property(field, owner)] as const)
      .sort(([a], [b]) => (a < b ? -1 : 1));
    const kinds = this.#kinds(message);
    const { atomic, union } = message.more;
    return {
      description: message.doc,
      type: "object",
      ...(required.length > 0 && { required }),
      ...(properties.length > 0 && { properties: Object.fromEntries(properties) }),
      ...this.#extensions({
        "group-version-kind": kinds.length > 0 ? kinds : undefined,
        "map-type": atomic ? "atomic" : undefined,
        "selectable-fields": selectableFields,
        unions: union && [
          {
            ...(union.discriminator && { discriminator: union.discriminator }),
            "fields-to-discriminateBy": Object.fromEntries(
              union.members.map((member) => [member, member.charAt(0).toUpperCase() + member.slice(1)]),
            ),
          },
        ],
      }),
    };
  }

  #kinds(message: Message): object[] {
    if (this.#everywhere.messages.includes(message)) {
      const kind = message.kind?.kind ?? message.name;
      const kinds = this.#everywhere.versions.map((version) =>
        publishedKind({ ...version, kind }, this.#dialect),
      );
      return kinds.sort((a, b) =>
        a.group === b.group ? (a.version < b.version ? -1 : 1) : a.group < b.group ? -1 : 1,
      );
    }
    if (!message.kind) return [];
    const { kind } = message.kind;
    const further = this.#everywhere.elsewhere?.get(message) ?? [];
    return [message.kind, ...further.map((version) => ({ ...version, kind }))].map((each) =>
      publishedKind(each, this.#dialect),
    );
  }

  #property(field: Field, owner: Message): SchemaObject {
    const { shape, more, doc } = field;
    const schema = this.#shape(shape, owner, more);
    const value = this.#version === "v3" && !listsDefined(owner) ? defaultOf(field) : undefined;
    const { list, patch, atomicMap } = more;
    return this.#withKeys(schema, {
      ...(!more.undescribed && { description: doc }),
      ...(value !== undefined && { default: value }),
      ...this.#extensions({
        "list-type": list?.type,
        "list-map-keys": list?.type === "map" ? list.keys : undefined,
        "map-type": atomicMap === undefined ? undefined : atomicMap ? "atomic" : "granular",
        "patch-strategy": patch?.strategy || undefined,
        "patch-merge-key": patch?.key || undefined,
      }),
    });
  }

  /**
   * Returns a schema with further keys. Version 3 allows no keys next to a reference, so it is wrapped in
   * allOf.
   */
  #withKeys(schema: SchemaObject, more: SchemaObject): SchemaObject {
    if (this.#version === "v2" || schema.$ref === undefined || Object.keys(more).length === 0)
      return { ...more, ...schema };
    return { allOf: [schema], ...more };
  }

  #shape(shape: Shape, owner: Message, more: FieldExtras): SchemaObject {
    switch (shape.shape) {
      case "scalar": {
        const special = specialScalar(shape.scalar, owner.package, this.#version);
        if (special) return { $ref: this.#define(special) };
        return {
          ...scalarTypes[shape.scalar],
          ...(more.format && { format: more.format }),
          ...(more.enum && this.#everywhere.enums !== false && { enum: more.enum }),
        };
      }
      case "message":
        return { $ref: this.refer(shape) };
      case "recursive":
        return { $ref: shape.or ? this.#define(unionDefinition(shape)) : this.refer(shape.get()) };
      case "list":
        return { type: "array", items: this.#item(shape.of, owner, more) };
      case "map":
        return { type: "object", additionalProperties: this.#item(shape.of, owner, more) };
    }
  }

  #item(shape: Shape, owner: Message, more: FieldExtras): SchemaObject {
    const schema = this.#shape(shape, owner, more);
    const zero = this.#version === "v3" && !listsDefined(owner) ? itemDefault(shape) : undefined;
    return this.#withKeys(schema, zero === undefined ? {} : { default: zero });
  }
}

/** Lists of kinds defined at run time are published without implied defaults. */
function listsDefined({ fields }: Message): boolean {
  const shape = fields["items"]?.shape;
  return shape?.shape === "list" && shape.of.shape === "message" && shape.of.more.open !== undefined;
}

/** Returns the default of an item that is not a pointer. */
function itemDefault(shape: Shape): unknown {
  if (shape.shape === "list" || shape.shape === "map") return undefined;
  return shape.shape === "scalar" && scalarTypes[shape.scalar] !== undefined ? scalarZeros[shape.scalar] : {};
}

/** Returns the published default: the declared one, or the one implied by the shape. */
function defaultOf({ shape, presence, more }: Field): unknown {
  const stated = "publishedDefault" in more ? more.publishedDefault : more.default;
  if (stated !== undefined) return stated;
  return (presence === "required" || presence === "embedded") && !more.nullable
    ? itemDefault(shape)
    : undefined;
}
