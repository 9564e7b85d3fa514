import assert from "node:assert/strict";
import { test } from "node:test";
import { SelectorError, parseLabelSelector } from "./label-selector-text.ts";
import { fromLabelSelector, parseFieldSelector, selector } from "./selector.ts";

const labels = { app: "web", tier: "front", size: "12", "example.com/x": "y" };
const cases: [text: string, matches: boolean][] = [
  ["", true],
  ["app", true],
  ["!app", false],
  ["!other", true],
  ["app=web", true],
  ["app==web,tier!=back", true],
  ["app = web , tier in (front, back)", true],
  ["tier notin (front)", false],
  ["other notin (a)", true],
  ["other!=a", true],
  ["app in (db,web)", true],
  ["size>11,size<13", true],
  ["size>12", false],
  ["app>1", false],
  ["example.com/x=y", true],
  ["app=", false],
  ["other in ()", false],
];
for (const [text, matches] of cases) {
  test(`labels ${matches ? "match" : "do not match"} "${text}"`, () =>
    assert.equal(selector(parseLabelSelector(text), []).matches({ labels, fields: {} }), matches));
}
for (const text of [
  "!!",
  "a=b=c",
  "a in b",
  "a in (b",
  "=b",
  "a,",
  "a b",
  "a>x",
  "a>9223372036854775808",
  "a<-9223372036854775809",
  "a=b c",
  "-a=b",
  "a=-b",
  "a=b,,c",
  "(a)",
]) {
  test(`"${text}" is not a label selector`, () =>
    assert.throws(() => parseLabelSelector(text), SelectorError));
}

const words: [text: string, message: string][] = [
  ["=b", "found '=', expected: !, identifier, or 'end of string'"],
  ["a,", "found '', expected: identifier after ','"],
  ["a=b c", "found 'c', expected: ',' or 'end of string'"],
  ["!!", "unable to parse requirement: found '!', expected: identifier"],
  ["a b", "unable to parse requirement: found 'b', expected: in, notin, =, ==, !=, gt, lt"],
  ["a in b", "unable to parse requirement: found 'b' expected: '('"],
  ["a in (", "unable to parse requirement: found '', expected: ',', ')' or identifier"],
  ["a in (b", "unable to parse requirement: found '', expected: ',' or ')'"],
  ["a in (b,", "unable to parse requirement: found '', expected: ',', or identifier"],
  ["a>x", `unable to parse requirement: values[0]: Invalid value: "x": for 'Gt', 'Lt' operators, the value must be an integer`],
]; // prettier-ignore
for (const [text, message] of words)
  test(`"${text}" is no label selector: ${message}`, () =>
    assert.throws(() => parseLabelSelector(text), { name: "SelectorError", message }));

test("an empty element of a set is an empty value", () =>
  assert.deepEqual(parseLabelSelector("a in (b,,c,)")[0]?.values, ["", "b", "c"]));

const item = { labels: {}, fields: { reason: "x,y" }, name: "a" };
const fieldCases: [text: string, matches: boolean][] = [
  ["metadata.name=a", true],
  ["metadata.name==a,reason!=z", true],
  ["metadata.name!=a", false],
  ["reason=x\\,y", true],
  ["reason=x", false],
  ["metadata.namespace=", true],
  ["metadata.namespace=n", false],
  ["missing=", true],
  ["toString=", true],
  ["missing=a", false],
];
for (const [text, matches] of fieldCases) {
  test(`fields ${matches ? "match" : "do not match"} "${text}"`, () =>
    assert.equal(selector([], parseFieldSelector(text)).matches(item), matches));
}
for (const text of ["bogus", "a=b=c", "a=\\x"]) {
  test(`"${text}" is not a field selector`, () =>
    assert.throws(() => parseFieldSelector(text), SelectorError));
}

const exactCases: [labels: string, fields: string, exact: string | undefined][] = [
  ["", "", undefined],
  ["app=web", "", "label app=web"],
  ["app in (web)", "", "label app=web"],
  ["app in (web,db),tier=back", "", "label tier=back"],
  ["app!=web,tier", "", undefined],
  ["app=web", "spec.nodeName=n1", "field spec.nodeName=n1"],
  ["", "metadata.namespace=n", undefined],
  ["app=web", "spec.nodeName!=n1", "label app=web"],
];
for (const [ofLabels, ofFields, exact] of exactCases) {
  test(`an index ${exact ? `can serve ${exact}` : "cannot serve"} of "${ofLabels}" and "${ofFields}"`, () => {
    const found = selector(parseLabelSelector(ofLabels), parseFieldSelector(ofFields)).exact;
    assert.equal(found && `${found.of} ${found.key}=${found.value}`, exact);
  });
}

test("a structured selector is equivalent to the text", () => {
  const selects = fromLabelSelector({
    matchLabels: { app: "web" },
    matchExpressions: [{ key: "tier", operator: "NotIn", values: ["back"] }],
  });
  assert.equal(selects.matches({ labels, fields: {} }), true);
  assert.throws(
    () => fromLabelSelector({ matchExpressions: [{ key: "a", operator: "Near" }] }),
    SelectorError,
  );
});
