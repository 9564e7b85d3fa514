// Claim: decoding and encoding a pod with all checks costs at most twice a bare JSON.parse and
// JSON.stringify.

import { Pod } from "#api";
import { canonical, decodeJson, encodeJson } from "#schema";
import { measure, table } from "./kit/measure.ts";
import { pod } from "./kit/pod.ts";

const text = encodeJson(Pod, pod);
const bytes = Buffer.from(text);
const sorted = (value: unknown): unknown =>
  Array.isArray(value)
    ? value.map(sorted)
    : typeof value === "object" && value !== null
      ? Object.fromEntries(
          Object.entries(value)
            .sort(([a], [b]) => (a < b ? -1 : 1))
            .map(([key, item]) => [key, sorted(item)]),
        )
      : value;
const alphabetical = JSON.stringify(sorted(pod));
if (encodeJson(Pod, decodeJson(Pod, bytes).value) !== text || canonical(Pod, pod) !== pod)
  throw new Error("the pod does not survive the round trip");

const figures = measure([
  { name: "bare JSON.parse + JSON.stringify", run: () => JSON.stringify(JSON.parse(text)) },
  { name: "decode + encode", run: () => encodeJson(Pod, decodeJson(Pod, text).value) },
  {
    name: "decode + encode, keys in another order",
    run: () => encodeJson(Pod, decodeJson(Pod, alphabetical).value),
  },
  { name: "bare JSON.parse", run: () => JSON.parse(text) as unknown },
  { name: "bare JSON.stringify", run: () => JSON.stringify(pod) },
  { name: "decode", run: () => decodeJson(Pod, text) },
  { name: "decode from bytes", run: () => decodeJson(Pod, bytes) },
  { name: "encode", run: () => encodeJson(Pod, pod) },
]);
table(`JSON: a pod of ${bytes.length} bytes`, figures);
const bare = figures.get("bare JSON.parse + JSON.stringify")!;
console.log(
  `  decode + encode take ${(figures.get("decode + encode")! / bare).toFixed(2)}× the bare time; in another order ${(figures.get("decode + encode, keys in another order")! / bare).toFixed(2)}×`,
);
