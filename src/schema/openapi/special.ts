// Types that are more than scalars on the wire but have no fields: published as a named definition and
// referenced.

import type { Recursive, ScalarName } from "../shape.ts";
import type { OpenApiVersion, SchemaObject } from "./schema-object.ts";

interface Special {
  /**
   * The name without the dialect's prefix; `json` is published in the package of the message that uses it.
   */
  readonly name: string;
  readonly doc: string;
  readonly schema: SchemaObject;
  /** The version 3 schema, if it can be more precise. */
  readonly v3?: SchemaObject;
}

const specials: Partial<Record<ScalarName, Special>> = {
  time: {
    name: "apimachinery.pkg.apis.meta.v1.Time",
    doc: "A point in time to the second, as RFC 3339 text in UTC. Null when unset.",
    schema: { type: "string", format: "date-time" },
  },
  microTime: {
    name: "apimachinery.pkg.apis.meta.v1.MicroTime",
    doc: "A point in time to the microsecond, as RFC 3339 text in UTC with six digits of fraction. Null when unset.",
    schema: { type: "string", format: "date-time" },
  },
  duration: {
    name: "apimachinery.pkg.apis.meta.v1.Duration",
    doc: "A length of time such as 1h30m or 250ms.",
    schema: { type: "string" },
  },
  quantity: {
    name: "apimachinery.pkg.api.resource.Quantity",
    doc: "An exact amount: a decimal number with a suffix of the families m k M G T P E (powers of 1000), Ki Mi Gi Ti Pi Ei (powers of 1024) or an exponent such as e6. It is printed without a fraction and with the largest suffix that fits.",
    schema: { type: "string" },
    v3: { oneOf: [{ type: "string" }, { type: "number" }] },
  },
  intOrString: {
    name: "apimachinery.pkg.util.intstr.IntOrString",
    doc: "A number of 32 bits or a text, such as a port by number or by name.",
    schema: { type: "string", format: "int-or-string" },
    v3: { format: "int-or-string", oneOf: [{ type: "integer" }, { type: "string" }] },
  },
  rawExtension: {
    name: "apimachinery.pkg.runtime.RawExtension",
    doc: "An object of any kind, kept as it was sent.",
    schema: { type: "object" },
  },
  fieldsV1: {
    name: "apimachinery.pkg.apis.meta.v1.FieldsV1",
    doc: "A set of fields as a tree: f:name for a field, k:{…} for an item by its keys, v:… for an item by value, i:… for an item by place; a dot for the object itself.",
    schema: { type: "object" },
  },
};

const any: SchemaObject = {};

/** Returns the definition of a special scalar; `home` is the package of the message that contains it. */
export function specialScalar(
  scalar: ScalarName,
  home: string,
  version: OpenApiVersion,
): { readonly name: string; readonly schema: SchemaObject } | undefined {
  if (scalar === "json") return { name: `${home}.JSON`, schema: { description: "Any JSON value.", ...any } };
  const special = specials[scalar];
  return (
    special && {
      name: special.name,
      schema: { description: special.doc, ...((version === "v3" && special.v3) || special.schema) },
    }
  );
}

const unionNames = { bool: "OrBool", array: "OrArray", strings: "OrStringArray" } as const;
const unionDocs = {
  bool: "A schema, or true or false.",
  array: "A schema, or a list of schemas.",
  strings: "A schema, or a list of property names.",
} as const;

/** Returns the definition of a message-or-other union. */
export function unionDefinition(shape: Recursive): { readonly name: string; readonly schema: SchemaObject } {
  const message = shape.get();
  return {
    name: `${message.package}.${message.name}${unionNames[shape.or!]}`,
    schema: { description: unionDocs[shape.or!], ...any },
  };
}

export const patchDefinition = {
  name: "apimachinery.pkg.apis.meta.v1.Patch",
  schema: { description: "The body of a PATCH request; the media type says how it is read.", type: "object" },
} as const satisfies { readonly name: string; readonly schema: SchemaObject };
