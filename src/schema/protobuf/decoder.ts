// Generates the source of a message's decoder: a switch over tags that fills local variables, then the object
// in the order of its JSON. Inlined messages are read by a nested loop, so that their fields become the
// parent's.

import { type FlatField, dropsZero, flatFields, zeroOfField } from "../flat.ts";
import type { Field, Message, ScalarName, Shape } from "../shape.ts";
import { type Scope, type Style, fieldsByNumber, tagOf, wireTypes } from "./plan.ts";

export function decoderSource(message: Message, style: Style, scope: Scope): string {
  const flat = flatFields(message);
  const locals = new Map(flat.map(({ field }, index) => [field, `f${index}`]));
  const declared = flat.map((_, index) => `f${index}`);
  const lines = [
    declared.length ? `let ${declared.join(", ")};` : "",
    loopSource(message, style, scope, locals, "end"),
    message.kind
      ? "const o = typeMeta === undefined ? {} : { kind: typeMeta.kind, apiVersion: typeMeta.apiVersion };"
      : "const o = {};",
    ...flat.map((entry, index) =>
      message.kind && index < 2 ? "" : keepSource(entry, `f${index}`, style, scope),
    ),
    "return o;",
  ];
  return lines.join("\n");
}

function loopSource(
  message: Message,
  style: Style,
  scope: Scope,
  locals: ReadonlyMap<Field, string>,
  end: string,
): string {
  const fields = fieldsByNumber(message);
  const cases = fields.map(([, field]) => caseSource(field, style, scope, locals));
  const known = scope.constant(new Map(fields.map(([name, field]) => [field.number, name])));
  return `while (r.at < ${end}) { const tag = r.tag(); switch (tag) { ${cases.join("\n")} default: other(r, tag, ${known}, ${JSON.stringify(message.name)}); } }`;
}

function caseSource(field: Field, style: Style, scope: Scope, locals: ReadonlyMap<Field, string>): string {
  const { shape, number } = field;
  if (field.presence === "inline") {
    const end = `e${number}`;
    return `case ${tagOf(number, 2)}: { const ${end} = r.open(); ${loopSource(shape as Message, style, scope, locals, end)} r.close(${end}); break; }`;
  }
  const local = locals.get(field)!;
  if (shape.shape === "list" && !field.more.wrapped) {
    const { of } = shape;
    const wire = of.shape === "scalar" ? wireTypes[of.scalar] : 2;
    const one = `case ${tagOf(number, wire)}: (${local} ??= []).push(${valueSource(of, style, scope)}); break;`;
    if (of.shape !== "scalar" || wire === 2) return one;
    return `${one} case ${tagOf(number, 2)}: { ${local} ??= []; const e = r.open(); while (r.at < e) ${local}.push(${valueSource(of, style, scope)}); r.close(e); break; }`;
  }
  if (shape.shape === "map") {
    const wire = shape.of.shape === "scalar" ? wireTypes[shape.of.scalar] : 2;
    const missing = scope.constant(zeroMaker(shape.of, style));
    return `case ${tagOf(number, 2)}: { ${local} ??= {}; let key = "", value; const e = r.open();
      while (r.at < e) { const t = r.tag(); if (t === 10) key = r.string(); else if (t === ${tagOf(2, wire)}) value = ${valueSource(shape.of, style, scope)}; else r.skip(t); }
      r.close(e); setOwn(${local}, key, value === undefined ? ${missing}() : value); break; }`;
  }
  const wire = shape.shape === "scalar" ? wireTypes[shape.scalar] : 2;
  return `case ${tagOf(number, wire)}: ${local} = ${valueSource(shape, style, scope)}; break;`;
}

/** Returns a function for the value of a map entry without a value field. */
function zeroMaker(shape: Shape, style: Style): () => unknown {
  if (shape.shape === "scalar" && (shape.scalar === "bytes" || shape.scalar === "rawBytes"))
    return () => (style === "proto3" || shape.scalar === "rawBytes" ? new Uint8Array(0) : "");
  return () => zeroOfField({ number: 0, shape, presence: "required", doc: "", more: {} });
}

function valueSource(shape: Shape, style: Style, scope: Scope): string {
  switch (shape.shape) {
    case "scalar":
      return scalarSource(shape.scalar, style);
    case "message":
      return nestedSource(scope.codec(shape));
    case "list":
      return `wrapped(r, () => ${valueSource(shape.of, style, scope)})`;
    case "recursive":
      return shape.or
        ? `union(r, ${scope.codec(shape.get())}, ${JSON.stringify(shape.or)})`
        : nestedSource(scope.codec(shape.get()));
    case "map":
      throw new Error("protobuf does not support a map inside a list or a map");
  }
}

const nestedSource = (codec: string): string => `nested(r, ${codec})`;

function scalarSource(scalar: ScalarName, style: Style): string {
  switch (scalar) {
    case "bytes":
      return style === "proto3" ? "r.rawBytes()" : "r.base64()";
    case "rawExtension":
    case "fieldsV1":
    case "json":
      return "r.raw()";
    default:
      return `r.${scalar}()`;
  }
}

/** Generates the code that sets a field in the object, or omits it, according to its presence. */
function keepSource({ name, field }: FlatField, local: string, style: Style, scope: Scope): string {
  const set = `o[${JSON.stringify(name)}]`;
  const { shape, presence } = field;
  if (presence === "required" || (presence === "embedded" && style === "reference")) {
    if (style === "proto3" && (shape.shape === "list" || shape.shape === "map"))
      return `${set} = ${local} === undefined ? ${shape.shape === "list" ? "[]" : "{}"} : ${local};`;
    if (
      style === "proto3" &&
      shape.shape === "scalar" &&
      (shape.scalar === "bytes" || shape.scalar === "rawBytes")
    )
      return `${set} = ${local} === undefined ? new Uint8Array(0) : ${local};`;
    const zero = zeroOfField(field);
    const literal =
      zero === null || typeof zero !== "object"
        ? JSON.stringify(zero)
        : `${scope.constant(() => zeroOfField(field))}()`;
    return `${set} = ${local} === undefined ? ${literal} : ${local};`;
  }
  if (style === "reference" && shape.shape === "scalar") {
    if (presence === "optional" && dropsZero.has(shape.scalar)) return `if (${local}) ${set} = ${local};`;
    return `if (${local} !== undefined && ${local} !== null) ${set} = ${local};`;
  }
  return `if (${local} !== undefined) ${set} = ${local};`;
}
