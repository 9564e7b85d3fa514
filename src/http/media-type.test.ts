import assert from "node:assert/strict";
import { test } from "node:test";
import { type MediaType, parseAccept, parseMediaType } from "./media-type.ts";

const essence = ({ type, subtype }: MediaType): string => `${type}/${subtype}`;

const single: [
  name: string,
  text: string,
  expected: string | undefined,
  parameters?: Record<string, string>,
  quality?: number,
][] = [
  ["a plain type", "application/json", "application/json"],
  ["case does not matter", "Application/JSON", "application/json"],
  ["white space around it", "  text/plain ; charset=utf-8 ", "text/plain", { charset: "utf-8" }],
  [
    "names of parameters in lower case, values as they are",
    "application/json;AS=Table;v=V1",
    "application/json",
    { as: "Table", v: "V1" },
  ],
  ["a quoted value", 'application/json;as="Table"', "application/json", { as: "Table" }],
  ["separators inside quotes are text", 'a/b;x="1;2,3";y=4', "a/b", { x: "1;2,3", y: "4" }],
  ["a parameter without a value is passed over", "a/b;x;y=1", "a/b", { y: "1" }],
  ["suffixes and dots", "application/vnd.orch.protobuf+x", "application/vnd.orch.protobuf+x"],
  ["quality is no parameter", "a/b;q=0.5;x=1", "a/b", { x: "1" }, 0.5],
  ["quality that is no number counts as wanted", "a/b;q=high", "a/b", {}, 1],
  ["everything", "*/*", "*/*"],
  ["no slash is no media type", "json", undefined],
  ["nothing is no media type", "", undefined],
  ["an empty half is no media type", "application/", undefined],
  ["a space inside is no media type", "application/js on", undefined],
];
for (const [name, text, expected, parameters = {}, quality = 1] of single) {
  test(`a media type: ${name}`, () => {
    const parsed = parseMediaType(text);
    assert.equal(parsed && essence(parsed), expected);
    if (!parsed) return;
    assert.deepEqual({ ...parsed.parameters }, parameters);
    assert.equal(parsed.quality, quality);
  });
}

const accepts: [name: string, text: string, order: string[]][] = [
  ["equals come in the order they were written", "a/a,b/b,c/c", ["a/a", "b/b", "c/c"]],
  ["the more wanted comes first", "a/a;q=0.1,b/b;q=0.9,c/c", ["c/c", "b/b", "a/a"]],
  ["what is wanted least comes last", "a/a;q=0,b/b;q=x,c/c;q=0.1", ["c/c", "a/a", "b/b"]],
  ["a type comes before any type that is wanted more", "*/*,a/*;q=0.2,a/a;q=0.1", ["a/a", "a/*", "*/*"]],
  ["what cannot be read is passed over", "nonsense, ,a/a", ["a/a"]],
  ["a parameter that ends with its clause", "a/a;q= ,b/b;q=0.5", ["a/a", "b/b"]],
  ["quotes mean nothing", 'a/a;x="1,2",b/b', ["a/a", "b/b"]],
  ["many clauses", "*/*,".repeat(13) + "a/a;q=0.1", ["a/a", ...Array<string>(13).fill("*/*")]],
  ["nothing accepts nothing", "", []],
];
for (const [name, text, order] of accepts)
  test(`Accept: ${name}`, () => assert.deepEqual(parseAccept(text).map(essence), order));

test("Accept is read once and stays the same however many others come", () => {
  const first = parseAccept("a/a;q=0.3");
  assert.equal(parseAccept("a/a;q=0.3"), first);
  for (let i = 0; i < 1100; i++) parseAccept(`a/a;x=${i}`);
  assert.deepEqual(parseAccept("a/a;q=0.3"), first);
});

test("a media type cannot reach the prototype of its parameters", () => {
  const { parameters } = parseMediaType("a/b;__proto__=x;as=Table")!;
  assert.equal(parameters["as"], "Table");
  assert.equal(Object.getPrototypeOf(parameters), null);
});
