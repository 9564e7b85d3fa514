import assert from "node:assert/strict";
import { test } from "node:test";
import { parseArguments } from "./grammar.ts";
import { nearest } from "./nearest.ts";

const flags: Record<string, string | undefined> = {
  name: undefined,
  "long-name": undefined,
  on: "true",
  v: undefined,
  help: "true",
};
const grammar = {
  resolve: (spelled: string) => (Object.hasOwn(flags, spelled) ? spelled : undefined),
  short: (letter: string) => ({ v: "v", h: "help" })[letter],
  bare: (flag: string) => flags[flag],
};

const cases: [name: string, argv: string[], given: string[], problems: string[]][] = [
  ["a value after an equals sign", ["--name=x=y"], ["name x=y"], []],
  ["a value as the next argument", ["--name", "x"], ["name x"], []],
  ["a value that looks like a flag", ["--name", "--on"], ["name --on"], []],
  ["an empty value", ["--name="], ["name "], []],
  ["a switch alone", ["--on", "--name=x"], ["on true", "name x"], []],
  ["a switch with a value", ["--on=false"], ["on false"], []],
  ["a switch does not take the next argument", ["--on", "false"], ["on true"], ["not a flag false"]],
  ["underscores for dashes", ["--long_name=x"], ["long-name x"], []],
  ["a short flag with the next argument", ["-v", "4"], ["v 4"], []],
  ["a short flag with an equals sign", ["-v=4"], ["v 4"], []],
  ["a short flag with its value attached", ["-v4"], ["v 4"], []],
  ["short flags together", ["-hv4"], ["help true", "v 4"], []],
  ["the long form of a short flag", ["--v=4"], ["v 4"], []],
  ["a missing value", ["--name"], [], ["no value --name"]],
  ["a missing value of a short flag", ["-v"], [], ["no value -v"]],
  ["an unknown flag", ["--nope=1", "--on"], ["on true"], ["unknown --nope"]],
  ["an unknown short flag", ["-x"], [], ["unknown -x"]],
  ["an argument that is not a flag", ["extra", "--on"], ["on true"], ["not a flag extra"]],
  ["the end of flags", ["--on", "--", "--name=x"], ["on true"], ["not a flag --name=x"]],
  ["three dashes", ["---on"], [], ["syntax ---on"]],
  ["no name", ["--=x"], [], ["syntax --=x"]],
  ["a single dash", ["-"], [], ["not a flag -"]],
];
for (const [name, argv, given, problems] of cases) {
  test(`${name} is parsed`, () => {
    const result = parseArguments(argv, grammar);
    assert.deepEqual(
      result.given.map(({ flag, text }) => `${flag} ${text}`),
      given,
    );
    assert.deepEqual(
      result.problems.map(({ wrong, spelled }) => `${wrong} ${spelled}`),
      problems,
    );
  });
}

const known = ["max-pods", "max-open-files", "pods-per-core", "v", "vmodule"];
const near: [given: string, found: string | undefined][] = [
  ["max-pod", "max-pods"],
  ["maxpods", "max-pods"],
  ["max-podz", "max-pods"],
  ["mxa-pods", "max-pods"],
  ["vmodul", "vmodule"],
  ["something-else", undefined],
];
for (const [given, found] of near) {
  test(`nearest to ${given} is ${found ?? "nothing"}`, () => assert.equal(nearest(given, known), found));
}
