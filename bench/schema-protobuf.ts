// Claim: the protobuf codec compiled from a declaration is at least as fast as protobufjs on the same pod.

import protobuf from "protobufjs";
import { Pod } from "#api";
import { type Field, type Message, type Shape, encodeJson, protobufCodec } from "#schema";
import { measure, table } from "./kit/measure.ts";
import { pod } from "./kit/pod.ts";

// ---- the same messages, for protobufjs ----
const root = new protobuf.Root();
const special: Record<string, [string, string, number][]> = {
  time: [["seconds", "int64", 1], ["nanos", "int32", 2]],
  microTime: [["seconds", "int64", 1], ["nanos", "int32", 2]],
  quantity: [["string", "string", 1]],
  intOrString: [["type", "int64", 1], ["intVal", "int32", 2], ["strVal", "string", 3]],
  fieldsV1: [["Raw", "bytes", 1]],
  rawExtension: [["raw", "bytes", 1]],
}; // prettier-ignore
for (const [name, fields] of Object.entries(special)) {
  const type = new protobuf.Type(`X${name}`);
  for (const [field, kind, number] of fields) type.add(new protobuf.Field(field, number, kind));
  root.add(type);
}
const made = new Set<string>();
const nameOf = (message: Message): string => `${message.package}_${message.name}`.replaceAll(/\W/g, "_");
const typeName = (shape: Shape): string => {
  if (shape.shape === "scalar") return shape.scalar in special ? `X${shape.scalar}` : shape.scalar;
  if (shape.shape === "message") return build(shape);
  throw new Error(`the pod has no ${shape.shape} here`);
};
function build(message: Message): string {
  const name = nameOf(message);
  if (made.has(name)) return name;
  made.add(name);
  const type = new protobuf.Type(name);
  for (const [key, { number, shape }] of Object.entries(message.fields) as [string, Field][]) {
    if (shape.shape === "list") type.add(new protobuf.Field(key, number, typeName(shape.of), "repeated"));
    else if (shape.shape === "map")
      type.add(new protobuf.MapField(key, number, "string", typeName(shape.of)));
    else type.add(new protobuf.Field(key, number, typeName(shape)));
  }
  root.add(type);
  return name;
}
const theirs = root.lookupType(build(Pod));
root.resolveAll();

const ours = protobufCodec(Pod);
const bytes = ours.encode(pod);
const message = theirs.decode(bytes);
const typeMeta = { apiVersion: "v1", kind: "Pod" };
const json = encodeJson(Pod, pod);
if (JSON.stringify(ours.decode(bytes, typeMeta)) !== json)
  throw new Error("the pod does not survive the round trip");

const figures = measure([
  { name: "decode", run: () => ours.decode(bytes, typeMeta) },
  { name: "decode, protobufjs", run: () => theirs.decode(bytes) },
  {
    name: "decode to plain objects, protobufjs",
    run: () => theirs.toObject(theirs.decode(bytes), { longs: Number }),
  },
  { name: "encode", run: () => ours.encode(pod) },
  { name: "encode, protobufjs", run: () => theirs.encode(message).finish() },
]);
table(`protobuf: a pod of ${json.length} bytes of JSON, ${bytes.length} of protobuf`, figures);
const ratio = (a: string, b: string): string => `${(figures.get(b)! / figures.get(a)!).toFixed(2)}×`;
console.log(
  `  decode ${ratio("decode", "decode, protobufjs")} the speed of protobufjs, encode ${ratio("encode", "encode, protobufjs")}`,
);
