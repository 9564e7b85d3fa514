import assert from "node:assert/strict";
import { test } from "node:test";
import { dialects } from "#dialect";
import { helpOption, versionOption } from "./common.ts";
import { type OptionSet, option, section } from "./option.ts";
import { int } from "./option-type.ts";
import { handleStartupOutput, logFlags } from "./report.ts";
import { settle } from "./settle.ts";

const options = [
  option({ flag: "pods", type: int, default: 1, deprecated: "say it in the file", doc: "How many." }),
  helpOption,
  versionOption,
] as const;
const set: OptionSet = {
  program: "agent",
  summary: "Runs.",
  dialect: dialects.orch,
  sections: [section("All", options)],
  checks: [],
};

const cases: [name: string, argv: string[], code: number | undefined, out: RegExp, err: RegExp][] = [
  ["nothing, and the program continues", [], undefined, /^$/, /^$/],
  ["the help text", ["--help"], 0, /^Runs\.\n[^]*--pods int\n/, /^$/],
  ["the version", ["--version"], 0, /^v1\n$/, /^$/],
  ["help rather than errors", ["--help", "--pods=x"], 0, /^Runs\./, /^$/],
  [
    "a warning, and the program continues",
    ["--pods=2"],
    undefined,
    /^$/,
    /^Flag --pods has been deprecated, say it in the file\n$/,
  ],
  [
    "the errors, and a reference to help",
    ["--pods=x", "--nope"],
    1,
    /^$/,
    /Error: invalid argument "x" for "--pods" flag: [^\n]*\nError: unknown flag: --nope\nagent did not start: 2 settings are wrong \(see agent --help\)\n$/,
  ],
];
for (const [name, argv, code, out, err] of cases) {
  test(`${argv.join(" ") || "no flags"} prints ${name}`, () => {
    const output = { out: "", err: "" };
    const answer = handleStartupOutput(set, settle(set, argv), {
      version: "v1",
      width: 80,
      out: (text) => (output.out += text),
      err: (text) => (output.err += text),
    });
    assert.equal(answer, code);
    assert.match(output.out, out);
    assert.match(output.err, err);
  });
}

test("flags and their values are logged from level 1 on", () => {
  const { values } = settle(set, ["--pods=2"]);
  const lines: string[] = [];
  for (const verbosity of [0, 1])
    logFlags(set, values, {
      enabled: (level) => level <= verbosity,
      verbose: (level, message) => void lines.push(`${level} ${message}`),
    });
  assert.deepEqual(lines, ['1 FLAG: --pods="2"']);
});
