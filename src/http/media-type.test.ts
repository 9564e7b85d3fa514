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
    "parameter names are lowercased, values are unchanged",
    "application/json;AS=Table;v=V1",
    "application/json",
    { as: "Table", v: "V1" },
  ],
  ["a quoted value", 'application/json;as="Table"', "application/json", { as: "Table" }],
  ["separators inside quotes are text", 'a/b;x="1;2,3";y=4', "a/b", { x: "1;2,3", y: "4" }],
  ["a parameter without a value is ignored", "a/b;x;y=1", "a/b", { y: "1" }],
  ["suffixes and dots", "application/vnd.orch.protobuf+x", "application/vnd.orch.protobuf+x"],
  ["quality is not a parameter", "a/b;q=0.5;x=1", "a/b", { x: "1" }, 0.5],
  ["an invalid quality counts as 1", "a/b;q=high", "a/b", {}, 1],
  ["everything", "*/*", "*/*"],
  ["a type without a slash is invalid", "json", undefined],
  ["an empty string is invalid", "", undefined],
  ["an empty subtype is invalid", "application/", undefined],
  ["a type with a space is invalid", "application/js on", undefined],
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
  ["clauses of equal quality keep their order", "a/a,b/b,c/c", ["a/a", "b/b", "c/c"]],
  ["the higher quality comes first", "a/a;q=0.1,b/b;q=0.9,c/c", ["c/c", "b/b", "a/a"]],
  ["the lowest quality comes last", "a/a;q=0,b/b;q=x,c/c;q=0.1", ["c/c", "a/a", "b/b"]],
  ["a specific type precedes a wildcard of higher quality", "*/*,a/*;q=0.2,a/a;q=0.1", ["a/a", "a/*", "*/*"]],
  ["invalid clauses are ignored", "nonsense, ,a/a", ["a/a"]],
  ["a parameter that ends with its clause", "a/a;q= ,b/b;q=0.5", ["a/a", "b/b"]],
  ["quotes have no effect", 'a/a;x="1,2",b/b', ["a/a", "b/b"]],
  ["many clauses", "*/*,".repeat(13) + "a/a;q=0.1", ["a/a", ...Array<string>(13).fill("*/*")]],
  ["an empty header accepts nothing", "", []],
];
for (const [name, text, order] of accepts)
  test(`Accept: ${name}`, () => assert.deepEqual(parseAccept(text).map(essence), order));

test("a parsed Accept header stays the same after many others", () => {
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
