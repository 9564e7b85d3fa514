import assert from "node:assert/strict";
import { test } from "node:test";
import { fieldErrorText } from "#base";
import {
  type TypeOf, apiPackage, applyDefaults, between, bool, configKeyProblems, dns1035LabelProblems, dns1123Label, dns1123LabelProblems, dns1123SubdomainProblems, embedded, environmentNameProblems, filled, inline, int32,
  ipProblems, labelValueProblems, list, map, maxItems, maxLength, maximum, minimum, optional, pattern, pointer, portNameProblems, portNumber, qualifiedNameProblems, required, string, validate,
} from "#schema"; // prettier-ignore

const { kind, message } = apiPackage({ package: "api.test.v1" });
const Port = message("Port", "", {
  name: optional(1, string, "", { rules: [dns1123Label] }),
  number: required(2, int32, "", { rules: [portNumber] }),
  protocol: optional(3, string, "", { default: "TCP", enum: ["TCP", "UDP"] }),
});
const Deep = message("Deep", "", {
  on: pointer(1, bool, "", { default: true }),
  options: optional(2, list(string), "", { default: ["a"] }),
});
const Mixed = message("Mixed", "", {
  mode: required(1, string, "", { default: "auto" }),
  policy: optional(2, string, "", { enum: ["Always"], openEnum: true }),
});
const Thing = kind("Thing", "", {
  ports: required(1, list(Port), "", { rules: [filled, maxItems(3)] }),
  deep: embedded(2, Deep, ""),
  byName: optional(3, map(Deep), ""),
  mixed: inline(4, Mixed),
  title: optional(5, string, "", { rules: [filled, maxLength(5)] }),
  low: optional(6, int32, "", { rules: [minimum(2)] }),
  high: optional(7, int32, "", { rules: [maximum(9)] }),
  range: optional(8, int32, "", { rules: [between(1, 5)] }),
  code: optional(9, string, "", { rules: [pattern("[a-c]+", "must be of a, b and c", "abc")] }),
  kinds: optional(10, list(string), "", { enum: ["x", "y"] }),
  given: optional(11, Mixed, "", { default: { policy: "p" } }),
});
type Thing = TypeOf<typeof Thing>;
const good: Thing = {
  kind: "Thing",
  apiVersion: "v1",
  ports: [{ number: 80 }],
  deep: {},
  mode: "",
  title: "t",
};

test("defaults are applied to unset fields at every level, and given values are kept", () => {
  const thing: Thing = { ...structuredClone(good), byName: { a: { on: false }, b: {} } };
  thing.ports!.push({ number: 1, protocol: "UDP" });
  applyDefaults(Thing, thing);
  assert.deepEqual(thing, {
    ...good,
    mode: "auto",
    ports: [
      { number: 80, protocol: "TCP" },
      { number: 1, protocol: "UDP" },
    ],
    deep: { on: true, options: ["a"] },
    byName: { a: { on: false, options: ["a"] }, b: { on: true, options: ["a"] } },
    given: { policy: "p", mode: "auto" },
  });
  const other: Thing = structuredClone(good);
  applyDefaults(Thing, other);
  assert.notEqual(other.deep.options, thing.deep.options);
});

const complaints: [name: string, change: Partial<Thing>, texts: string[]][] = [
  ["a valid object has no errors", {}, []],
  ["an empty list that must be filled", { ports: [] }, ["ports: Required value"]],
  ["a list that is absent but must be filled", { ports: null }, ["ports: Required value"]],
  ["a text that is absent but must be filled", { title: undefined }, ["title: Required value"]],
  ["too many", { ports: [80, 81, 82, 83].map((number) => ({ number })) }, ["ports: Too many: 4: must have at most 3 items"]],
  ["too long, in bytes", { title: "ééé" }, ["title: Too long: must have at most 5 bytes"]],
  ["rules of items, with their index", { ports: [{ number: 80 }, { number: 0, name: "A" }] }, ["ports[1].name: Invalid value: \"A\": a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?')", "ports[1].number: Invalid value: 0: must be between 1 and 65535, inclusive"]],
  ["a value outside a closed enumeration", { ports: [{ number: 1, protocol: "ICMP" }] }, ['ports[0].protocol: Unsupported value: "ICMP": supported values: "TCP", "UDP"']],
  ["items outside a closed enumeration", { kinds: ["x", "z"] }, ['kinds[1]: Unsupported value: "z": supported values: "x", "y"']],
  ["a value outside an open enumeration is accepted", { policy: "Never" }, []],
  ["numbers out of range", { low: 1, high: 10, range: 6 }, ["low: Invalid value: 1: must be greater than or equal to 2", "high: Invalid value: 10: must be less than or equal to 9", "range: Invalid value: 6: must be between 1 and 5, inclusive"]],
  ["a text that does not match", { code: "abd" }, ["code: Invalid value: \"abd\": must be of a, b and c (e.g. 'abc', regex used for validation is '[a-c]+')"]],
]; // prettier-ignore
for (const [name, change, texts] of complaints)
  test(name, () => assert.deepEqual(validate(Thing, { ...good, ...change }).map(fieldErrorText), texts));

test("paths start at the location of the object", () =>
  assert.equal(validate(Thing, { ...good, ports: [] }, "spec.template")[0]!.field, "spec.template.ports"));

const formats: [check: (value: string) => readonly string[], good: string[], bad: [value: string, problem: RegExp][]][] = [
  [dns1123LabelProblems, ["a", "a-b", "1", "a".repeat(63)], [["", /label must/], ["a.b", /must not contain dots/], ["A", /label must/], ["a".repeat(64), /no more than 63/], ["-a", /label must/]]],
  [dns1123SubdomainProblems, ["a.b", "a-b.c1", "a".repeat(253)], [["a..b", /subdomain must/], ["a_b", /subdomain must/], ["a".repeat(254), /no more than 253/]]],
  [dns1035LabelProblems, ["a1", "a-b"], [["1a", /DNS-1035/], ["a.b", /DNS-1035/]]],
  [labelValueProblems, ["", "A.b_c-1", "a".repeat(63)], [["-", /valid label/], ["a b", /valid label/], ["a".repeat(64), /no more than 63/]]],
  [qualifiedNameProblems, ["a", "Name", "example.com/My.Name"], [["", /name part must be non-empty/], ["a/b/c", /^a qualified name/], ["/a", /prefix part must be non-empty/], ["A_/a", /prefix part a lowercase/], ["a/", /name part must be non-empty/], ["a".repeat(64), /name part must be no more than 63/]]],
  [environmentNameProblems, ["A_B", "a.b"], [["1a", /environment variable/], ["..", /must not be/], ["..a", /must not start with/]]],
  [configKeyProblems, ["a.b", "A_1"], [["a/b", /config key/], [".", /must not be/], ["..a", /must not start with/]]],
  [portNameProblems, ["http", "a-1"], [["", /must contain/], ["8080", /at least one letter/], ["a--b", /consecutive/], ["-a", /begin or end/], ["a".repeat(16), /no more than 15/], ["A", /only alpha/]]],
  [ipProblems, ["10.0.0.1", "::1", "010.0.0.1"], [["10.0.0", /valid IP/], ["fe80::1%eth0", /valid IP/], ["x", /valid IP/]]],
]; // prettier-ignore
for (const [check, good, bad] of formats) {
  for (const value of good)
    test(`${check.name}: ${JSON.stringify(value)} is valid`, () => assert.deepEqual(check(value), []));
  for (const [value, problem] of bad)
    test(`${check.name}: ${JSON.stringify(value)} is invalid`, () =>
      assert.match(check(value).join("; "), problem));
}
