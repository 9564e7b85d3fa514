import assert from "node:assert/strict";
import { test } from "node:test";
import type { Dialect } from "#dialect";
import { type OptionSet, type OptionsOf, dialectOption, helpOption, option, section, text } from "#options";
import { clusterCommand } from "./cluster-command.ts";

const sections = (dialect: Dialect) =>
  [
    section("Cluster", [
      option({ flag: "colour", type: text, default: "blue", doc: "Colour of the shed." }),
      dialectOption(dialect),
      helpOption,
    ]),
  ] as const;
const paintOptions = (dialect: Dialect): OptionSet<OptionsOf<ReturnType<typeof sections>>> => ({
  program: "orch paint",
  summary: "Paints a shed.",
  dialect,
  sections: sections(dialect),
  checks: [],
  takesArguments: true,
});

const cases: [name: string, argv: string[], code: number, out: RegExp, err: RegExp][] = [
  [
    "settings and positional arguments reach the command",
    ["shed", "--colour=red"],
    0,
    /^orch: shed red\n$/,
    /^$/,
  ],
  ["a flag and its value may be two arguments", ["--colour", "red", "shed"], 0, /^orch: shed red\n$/, /^$/],
  ["the requested dialect is used", ["--dialect=kubernetes"], 0, /^kubernetes: {2}blue\n$/, /^$/],
  ["help is printed to standard output", ["--help"], 0, /Paints a shed\./, /^$/],
  ["an unknown flag is an error", ["--color=red"], 1, /^$/, /color.*colour/s],
  ["an unknown dialect is an error", ["--dialect=latin"], 1, /^$/, /^error: .*latin/],
  ["failures are printed in one line", ["--colour=black"], 1, /^$/, /^error: not that one\n$/],
];
for (const [name, argv, code, out, err] of cases) {
  test(name, async () => {
    const printed = { out: "", err: "" };
    const output = {
      out: (line: string) => void (printed.out += line),
      err: (line: string) => void (printed.err += line),
    };
    const found = await clusterCommand(paintOptions, argv, output, async ({ dialect, settings, words }) => {
      if (settings.colour === "black") throw new Error("not that one");
      output.out(`${dialect.name}: ${words.join(" ")} ${settings.colour}\n`);
      return 0;
    });
    assert.equal(found, code);
    assert.match(printed.out, out);
    assert.match(printed.err, err);
  });
}
