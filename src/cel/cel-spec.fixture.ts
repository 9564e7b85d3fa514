// Runs the public CEL conformance vectors: what each compiles, binds and expects. A vector that needs values
// that this implementation cannot represent reports that instead.

import type { Decl, Type } from "@bufbuild/cel-spec/cel/expr/checked_pb.js";
import type { Value as SpecValue } from "@bufbuild/cel-spec/cel/expr/value_pb.js";
import type { SimpleTest } from "@bufbuild/cel-spec/cel/expr/conformance/test/simple_pb.js";
import { type IncrementalTestSuite, getConformanceSuite } from "@bufbuild/cel-spec/testdata/tests.js";
import { type CelType, abstractType, listOf, mapOf, typeOf, typeParam, types } from "./types.ts";
import { formatType } from "./types.ts";
import { type Environment, compile } from "./program.ts";
import { equal } from "./operations.ts";
import { Duration, MapValue, Timestamp, TypeValue, Uint, type Value } from "./values.ts";
import { Double, type MapKey, intOf, uintOf } from "./values.ts";
import { mapKey } from "./operations.ts";

export interface Vector {
  /** File, section and name. */
  readonly name: string;
  readonly test: SimpleTest;
}

export function allVectors(): Vector[] {
  const vectors: Vector[] = [];
  const seen = new Map<string, number>();
  const visit = (suite: IncrementalTestSuite, path: readonly string[]): void => {
    for (const { name, original } of suite.tests) {
      const full = [...path, name].join("/");
      const count = (seen.get(full) ?? 0) + 1;
      seen.set(full, count);
      vectors.push({ name: count === 1 ? full : `${full} (${count})`, test: original });
    }
    for (const inner of suite.suites) visit(inner, [...path, inner.name]);
  };
  visit(getConformanceSuite(), []);
  return vectors;
}

/** Returns why a vector fails; undefined if it passes. */
export function failureOf(env: Environment, { test }: Vector): string | undefined {
  try {
    return run(env, test);
  } catch (error) {
    if (error instanceof Unsupported) return error.message;
    throw error;
  }
}

class Unsupported extends Error {}

function run(env: Environment, test: SimpleTest): string | undefined {
  if (test.disableCheck) return "runs without type checking";
  if (test.disableMacros) return "runs without macros";
  if (test.container !== "") return "has a container of names";
  const variables = Object.fromEntries(test.typeEnv.map(variableOf));
  const compiled = compile(env, test.expr, { variables });
  const { resultMatcher: expected } = test;
  const errorExpected = expected.case === "evalError" || expected.case === "anyEvalErrors";
  // The reference folds constants when it creates the program: errors there count as evaluation errors.
  if ("error" in compiled)
    return errorExpected && compiled.stage === "instantiate" ? undefined : compiled.error;
  const { program } = compiled;
  if (expected.case === "typedResult" && expected.value.deducedType) {
    const type = formatType(typeFrom(expected.value.deducedType));
    if (type !== formatType(program.resultType)) return `has type ${formatType(program.resultType)}`;
  }
  if (test.checkOnly) return undefined;
  const bindings = Object.fromEntries(
    Object.entries(test.bindings).map(([name, { kind }]) => {
      if (kind.case !== "value") throw new Unsupported(`binds a value that is ${kind.case}`);
      return [name, valueFrom(kind.value)];
    }),
  );
  const outcome = program.evaluate(bindings, Number.MAX_SAFE_INTEGER);
  if ("error" in outcome) return errorExpected ? undefined : outcome.error;
  if (errorExpected) return `gives ${show(outcome.value)}`;
  return sameResult(outcome.value, expectedValue(test)) ? undefined : `gives ${show(outcome.value)}`;
}

function expectedValue({ resultMatcher: expected }: SimpleTest): Value {
  switch (expected.case) {
    case undefined:
      return true;
    case "value":
      return valueFrom(expected.value);
    case "typedResult":
      return expected.value.result ? valueFrom(expected.value.result) : true;
    default:
      throw new Unsupported(`expects ${expected.case}`);
  }
}

function variableOf({ name, declKind }: Decl): [string, CelType] {
  if (declKind.case !== "ident") throw new Unsupported("declares a function");
  return [name, declKind.value.type ? typeFrom(declKind.value.type) : types.dyn];
}

const primitives = [types.dyn, types.bool, types.int, types.uint, types.double, types.string, types.bytes];
const wellKnown = [types.dyn, types.dyn, types.timestamp, types.duration];

function typeFrom({ typeKind }: Type): CelType {
  switch (typeKind.case) {
    case "primitive":
      return primitives[typeKind.value]!;
    case "wellKnown":
      return wellKnown[typeKind.value]!;
    case "null":
      return types.null;
    case "listType":
      return listOf(typeKind.value.elemType ? typeFrom(typeKind.value.elemType) : types.dyn);
    case "mapType": {
      const { keyType, valueType } = typeKind.value;
      return mapOf(keyType ? typeFrom(keyType) : types.dyn, valueType ? typeFrom(valueType) : types.dyn);
    }
    case "typeParam":
      return typeParam(typeKind.value);
    case "type":
      return typeOf(typeFrom(typeKind.value));
    case "abstractType":
      return abstractType(typeKind.value.name, typeKind.value.parameterTypes.map(typeFrom));
    case "messageType":
    case "wrapper":
      throw new Unsupported("has a variable that is a message");
    default:
      return types.dyn;
  }
}

function valueFrom({ kind }: SpecValue): Value {
  switch (kind.case) {
    case "nullValue":
      return null;
    case "boolValue":
    case "stringValue":
    case "bytesValue":
      return kind.value;
    case "int64Value":
      return intOf(kind.value);
    case "uint64Value":
      return uintOf(kind.value);
    case "doubleValue":
      return new Double(kind.value);
    case "typeValue":
      return new TypeValue(kind.value);
    case "listValue":
      return kind.value.values.map(valueFrom);
    case "mapValue": {
      const entries = new Map<MapKey, readonly [Value, Value]>();
      for (const { key, value } of kind.value.entries) {
        const own = valueFrom(key!);
        entries.set(mapKey(own)!, [own, valueFrom(value!)]);
      }
      return new MapValue(entries);
    }
    case "objectValue":
      return messageFrom(kind.value.typeUrl, kind.value.value);
    default:
      throw new Unsupported(`holds a value that is ${kind.case}`);
  }
}

/** The only supported messages are times. */
function messageFrom(typeUrl: string, bytes: Uint8Array): Value {
  const type = /google\.protobuf\.(Timestamp|Duration)$/.exec(typeUrl)?.[1];
  if (!type) throw new Unsupported("holds a message");
  const { seconds, nanos } = secondsAndNanos(bytes);
  return type === "Timestamp"
    ? new Timestamp(Number(seconds), nanos)
    : new Duration(seconds * 1_000_000_000n + BigInt(nanos));
}

/** Both messages have seconds as field 1 and nanoseconds as field 2. */
function secondsAndNanos(bytes: Uint8Array): { seconds: bigint; nanos: number } {
  const found = [0n, 0n, 0n];
  let at = 0;
  const number = (): bigint => {
    let value = 0n;
    for (let shift = 0n; ; shift += 7n) {
      const byte = bytes[at++]!;
      value |= BigInt(byte & 0x7f) << shift;
      if (byte < 0x80) return BigInt.asIntN(64, value);
    }
  };
  while (at < bytes.length) found[Number(number() >> 3n)] = number();
  return { seconds: found[1]!, nanos: Number(found[2]!) };
}

/** Equality that distinguishes number types and treats NaN as equal to itself. */
function sameResult(left: Value, right: Value): boolean {
  if (left instanceof Double && right instanceof Double)
    return Object.is(left.value, right.value) || left.value === right.value;
  if (kindOf(left) !== kindOf(right)) return false;
  if (Array.isArray(left) && Array.isArray(right))
    return left.length === right.length && left.every((item, at) => sameResult(item, right[at]));
  return equal(left, right);
}

const kindOf = (value: Value): string =>
  value instanceof Uint
    ? "uint"
    : value instanceof Double
      ? "double"
      : typeof value === "bigint"
        ? "number"
        : typeof value;

const show = (value: Value): string =>
  JSON.stringify(value, (_key, inner: unknown) => (typeof inner === "bigint" ? `${inner}` : inner));
