import assert from "node:assert/strict";
import { test } from "node:test";
import {
  type Shape,
  apiPackage,
  bool,
  bytes,
  double,
  int32,
  intOrString,
  list,
  map,
  optional,
  quantity,
  string,
  time,
} from "../shape.ts";
import { decodeJson } from "./codec.ts";
import { converterMessage } from "./converter-message.ts";
import { DecodeError, type Mismatch } from "./decode-error.ts";

const { message, named } = apiPackage({ package: "api.core.v1" });
const phase = named("PodPhase", string);

const words: [given: Mismatch["given"], literal: string, into: Shape, converter: string][] = [
  ["string", "", map(string), "cannot restore map from string"],
  ["string", "", named("ResourceList", map(string)), "cannot restore map from string"],
  ["object", "", list(string), "cannot restore slice from map"],
  ["array", "", message("PodSpec", "", {}), "cannot restore struct from: slice"],
  ["number", "1", message("PodSpec", "", {}), "cannot restore struct from: int64"],
  ["number", "1.5", int32, "cannot convert float64 to int32"],
  ["string", "", int32, "unrecognized type: int32"],
  ["number", "5", string, "cannot convert int64 to string"],
  ["number", "5", phase, "cannot convert int64 to v1.PodPhase"],
  ["number", "5.5", phase, "unrecognized type: string"],
  ["object", "", phase, "unrecognized type: string"],
  ["number", "5", bool, "unrecognized type: bool"],
  ["string", "", double, "unrecognized type: float64"],
  ["bool", "", bytes, "cannot restore slice from bool"],
]; // prettier-ignore
for (const [given, literal, into, converter] of words)
  test(`"${converter}" is the converter's message for ${given} ${literal}`, () =>
    assert.equal(converterMessage(new DecodeError("json", "", { given, literal, into })), converter));

const Thing = message("Thing", "", {
  made: optional(1, time, ""),
  port: optional(2, intOrString, ""),
  data: optional(3, bytes, ""),
  amount: optional(4, quantity, ""),
});
const read: [text: string, converter: string][] = [
  ['{"made":5}', "json: cannot unmarshal number into Go value of type string"],
  ['{"port":1.5}', "json: cannot unmarshal number 1.5 into Go value of type int32"],
  ['{"port":[]}', "json: cannot unmarshal array into Go value of type int32"],
  ['{"data":"?"}', "error decoding from json: illegal base64 data at input byte 0"],
  ['{"data":["x"]}', "unrecognized type: uint8"],
  ['{"amount":"x"}', "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'"],
]; // prettier-ignore
for (const [text, converter] of read)
  test(`"${converter}" is the converter's message for ${text}`, () =>
    assert.throws(
      () => decodeJson(Thing, text),
      (error: DecodeError) => converterMessage(error) === converter,
    ));
