import assert from "node:assert/strict";
import { test } from "node:test";
import { converterWords } from "./converter-words.ts";

const words: [decoder: string, converter: string][] = [
  ["json: cannot unmarshal string into Go struct field ObjectMeta.metadata.labels of type map[string]string", "cannot restore map from string"],
  ["json: cannot unmarshal object into Go struct field PodSpec.spec.containers of type []v1.Container", "cannot restore slice from map"],
  ["json: cannot unmarshal array into Go struct field Pod.spec of type v1.PodSpec", "cannot restore struct from: slice"],
  ["json: cannot unmarshal number 1.5 into Go struct field X.spec.replicas of type int32", "cannot convert float64 to int32"],
  ["json: cannot unmarshal string into Go struct field X.spec.replicas of type int32", "cannot convert string to int32"],
  ["quantities must match the regular expression", "quantities must match the regular expression"],
]; // prettier-ignore
for (const [decoder, converter] of words)
  test(`"${converter}" is how a converter tells it`, () => assert.equal(converterWords(decoder), converter));
