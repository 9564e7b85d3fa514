// Generates the source of a message's encoder: straight-line code over one object `o`, fields from the
// highest number down because the writer `w` writes backwards.

import type { Field, Message, ScalarName, Shape } from "../shape.ts";
import { type Scope, type Style, fieldsByNumber, tagOf, wireTypes } from "./plan.ts";

export function encoderSource(message: Message, style: Style, scope: Scope): string {
  return fieldsByNumber(message)
    .reverse()
    .map(([name, field]) => `{ ${fieldSource(name, field, style, scope)} }`)
    .join("\n");
}

function fieldSource(name: string, field: Field, style: Style, scope: Scope): string {
  const { shape, presence, number } = field;
  if (presence === "inline") return nestedSource(scope.codec(shape as Message), "o", number, scope);
  const v = scope.fresh();
  const load = `let ${v} = o[${JSON.stringify(name)}];`;
  const given = `if (${v} !== undefined && ${v} !== null)`;
  switch (shape.shape) {
    case "list":
      return `${load} ${given} { ${field.more.wrapped ? valueSource(shape, v, number, style, scope) : repeatedSource(shape.of, v, number, style, scope)} }`;
    case "map":
      return `${load} ${given} { ${mapSource(shape.of, v, number, style, scope)} }`;
    case "message":
    case "recursive": {
      const write = valueSource(shape, v, number, style, scope);
      const must =
        (presence === "embedded" || presence === "required") &&
        style === "reference" &&
        !field.more.nullable &&
        !(shape.shape === "recursive" && shape.or);
      return must
        ? `${load} if (${v} === undefined || ${v} === null) ${v} = none; ${write}`
        : `${load} ${given} { ${write} }`;
    }
    case "scalar":
      return `${load} ${scalarFieldSource(shape.scalar, field, v, style)}`;
  }
}

const plainZeros: Partial<Record<ScalarName, string>> = {
  string: '""',
  bool: "false",
  int32: "0",
  int64: "0",
  uint32: "0",
  uint64: "0",
  double: "0",
  float: "0",
};
const messageZeros: Partial<Record<ScalarName, string>> = {
  time: "null",
  microTime: "null",
  rawExtension: "null",
  json: "null",
  quantity: '"0"',
  intOrString: "0",
  duration: '"0s"',
};

function scalarFieldSource(scalar: ScalarName, field: Field, v: string, style: Style): string {
  const write = `${scalarSource(scalar, v)} w.uint32(${tagOf(field.number, wireTypes[scalar])});`;
  const plain = plainZeros[scalar];
  if (plain !== undefined && field.presence !== "pointer" && !field.more.nullable) {
    if (style === "reference") return `if (${v} === undefined || ${v} === null) ${v} = ${plain}; ${write}`;
    return `if (${v} !== undefined && ${v} !== null && ${v} !== ${plain}) { ${write} }`;
  }
  const must =
    (field.presence === "required" || field.presence === "embedded") &&
    style === "reference" &&
    !field.more.nullable;
  const zero = messageZeros[scalar];
  if (zero !== undefined && must) return `if (${v} === undefined) ${v} = ${zero}; ${write}`;
  const nonEmpty =
    style === "proto3" && field.presence !== "pointer" && (scalar === "bytes" || scalar === "rawBytes")
      ? ` && ${v}.length > 0`
      : "";
  return `if (${v} !== undefined && ${v} !== null${nonEmpty}) { ${write} }`;
}

function scalarSource(scalar: ScalarName, value: string): string {
  switch (scalar) {
    case "bytes":
      return `if (typeof ${value} === "string") w.base64(${value}); else w.bytes(${value});`;
    case "rawBytes":
      return `w.bytes(${value});`;
    case "uint64":
      return `w.int64(${value});`;
    case "rawExtension":
    case "fieldsV1":
    case "json":
      return `w.raw(${value});`;
    default:
      return `w.${scalar}(${value});`;
  }
}

/** Generates `body`, followed by the length of what it wrote and a tag. */
function delimited(number: number, scope: Scope, body: string): string {
  const mark = scope.fresh();
  return `const ${mark} = w.mark(); ${body} w.uint32(w.mark() - ${mark}); w.uint32(${tagOf(number, 2)});`;
}
const nestedSource = (codec: string, value: string, number: number, scope: Scope): string =>
  delimited(number, scope, `${codec}.encode(w, ${value});`);

function repeatedSource(of: Shape, value: string, number: number, style: Style, scope: Scope): string {
  const i = scope.fresh();
  const loop = (body: string) => `for (let ${i} = ${value}.length - 1; ${i} >= 0; ${i}--) { ${body} }`;
  if (style === "proto3" && of.shape === "scalar" && wireTypes[of.scalar] !== 2)
    return `if (${value}.length > 0) { ${delimited(number, scope, loop(scalarSource(of.scalar, `${value}[${i}]`)))} }`;
  const item = scope.fresh();
  return loop(`const ${item} = ${value}[${i}]; ${valueSource(of, item, number, style, scope)}`);
}

function mapSource(of: Shape, map: string, number: number, style: Style, scope: Scope): string {
  const [keys, i, v] = [scope.fresh(), scope.fresh(), scope.fresh()];
  const write = valueSource(of, v, 2, style, scope);
  // null is written as no value at all: the entry has only a key
  const nullable = of.shape === "scalar" && of.scalar === "bytes";
  const entry = `${nullable ? `if (${v} !== null) { ${write} }` : write} w.string(${keys}[${i}]); w.uint32(10);`;
  return `const ${keys} = sortedKeys(${map}); for (let ${i} = ${keys}.length - 1; ${i} >= 0; ${i}--) { const ${v} = ${map}[${keys}[${i}]]; ${delimited(number, scope, entry)} }`;
}

/** Generates the code for one value with its tag, in a list, in a map or alone. */
function valueSource(shape: Shape, value: string, number: number, style: Style, scope: Scope): string {
  switch (shape.shape) {
    case "scalar":
      return `${scalarSource(shape.scalar, value)} w.uint32(${tagOf(number, wireTypes[shape.scalar])});`;
    case "message":
      return nestedSource(scope.codec(shape), value, number, scope);
    case "list":
      return delimited(
        number,
        scope,
        `if (${value}) { ${repeatedSource(shape.of, value, 1, style, scope)} }`,
      );
    case "map":
      throw new Error("protobuf does not support a map inside a list or a map");
    case "recursive":
      return shape.or
        ? delimited(number, scope, unionSource(shape.or, scope.codec(shape.get()), value, scope))
        : nestedSource(scope.codec(shape.get()), value, number, scope);
  }
}

function unionSource(or: "bool" | "array" | "strings", codec: string, x: string, scope: Scope): string {
  const i = scope.fresh();
  const each = (body: string) => `for (let ${i} = ${x}.length - 1; ${i} >= 0; ${i}--) { ${body} }`;
  switch (or) {
    case "bool":
      return `if (typeof ${x} === "object") { ${nestedSource(codec, x, 2, scope)} w.bool(true); } else w.bool(${x}); w.uint32(8);`;
    case "array":
      return `if (Array.isArray(${x})) { ${each(nestedSource(codec, `${x}[${i}]`, 2, scope))} } else if (${x}) { ${nestedSource(codec, x, 1, scope)} }`;
    case "strings":
      return `if (Array.isArray(${x})) { ${each(`w.string(${x}[${i}]); w.uint32(18);`)} } else if (${x}) { ${nestedSource(codec, x, 1, scope)} }`;
  }
}
