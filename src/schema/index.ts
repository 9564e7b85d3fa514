export {
  type Field,
  type FieldExtras,
  type Fields,
  type KindName,
  type ListOf,
  type MapOf,
  type Message,
  type MessageExtras,
  type Presence,
  type Recursive,
  type Rule,
  type RuleFinding,
  type Scalar,
  type ScalarName,
  type Shape,
  apiPackage,
  bool,
  bytes,
  double,
  duration,
  embedded,
  fieldsV1,
  float,
  inline,
  int32,
  int64,
  intOrString,
  json,
  list,
  map,
  microTime,
  optional,
  orArray,
  orBool,
  orStrings,
  pointer,
  quantity,
  rawBytes,
  rawExtension,
  recursive,
  required,
  string,
  time,
  uint32,
  uint64,
} from "./shape.ts";
export type { TypeOf } from "./infer.ts";
export { type ProtobufCodec, type TypeMeta, protobufCodec } from "./protobuf/codec.ts";
export { type Envelope, decodeEnvelope, encodeEnvelope, hasEnvelope } from "./protobuf/envelope.ts";
export type { Style as ProtobufStyle } from "./protobuf/plan.ts";
export { ProtobufError, Reader as ProtobufReader } from "./protobuf/reader.ts";
export { Writer as ProtobufWriter } from "./protobuf/writer.ts";
export { type DecodeOptions, type Decoded, canonical, decodeJson, encodeJson, fromJsonValue } from "./json/codec.ts";
export { DecodeError } from "./json/decode-error.ts";
export { JsonSyntaxError, type ParsedJson, parseJson } from "./json/parse.ts";
export { stringifyJson } from "./json/stringify.ts";
