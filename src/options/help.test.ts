import assert from "node:assert/strict";
import { test } from "node:test";
import { dialects } from "#dialect";
import { helpOption, verbosityOption } from "./common.ts";
import { helpText, terminalWidth, wrap } from "./help.ts";
import { mapOf } from "./list-type.ts";
import { type OptionSet, option, section } from "./option.ts";
import { bool, duration, int32, text } from "./option-type.ts";
import { renderReference } from "./reference.ts";

const set: OptionSet = {
  program: "agent",
  summary: "An agent.",
  dialect: dialects.orch,
  checks: [],
  file: [{ apiVersion: "a/v1", kind: "Config" }],
  gates: [{ name: "Early", stage: "ALPHA", default: false }],
  sections: [
    section("First", [
      option({
        flag: "port",
        config: "port",
        type: int32,
        default: 0,
        legacyDefault: 10255,
        deprecated: "set port in the file",
        doc: "Port to serve on, for everyone who asks for it.",
      }),
      option({ flag: "on", type: bool, default: true, doc: "Serve." }),
      option({ flag: "off", type: bool, default: false, doc: "Do not." }),
      option({ flag: "wait", type: duration, default: 90_000, doc: "Wait." }),
      option({
        flag: "limits",
        type: mapOf(text, { separator: "<" }),
        default: { a: "1" },
        doc: "Limits <x|y>.",
      }),
    ]),
    section("Second", [verbosityOption({}), helpOption]),
  ],
};

test("help groups flags, shows defaults and fits the width", () => {
  assert.equal(
    helpText(set, { width: 60 }),
    `An agent.

Usage:
  agent [flags]

First:

      --port int32
            Port to serve on, for everyone who asks for it.
            DEPRECATED: set port in the file. (default
            10255)
      --on
            Serve. (default true)
      --off
            Do not.
      --wait duration
            Wait. (default 1m30s)
      --limits mapStringString
            Limits <x|y>. (default a<1)

Second:

  -v, --v level
            Log verbosity: 0 logs only the most important
            messages, 4 is for debugging. Errors are always
            logged.
  -h, --help
            Print this help and exit.
`,
  );
});

test("no line of help is wider than the terminal", () => {
  for (const width of [40, 80, 250]) {
    for (const line of helpText(set, { width }).split("\n")) assert.ok(line.length <= width, line);
  }
});

test("a word that is too long is split at a comma", () =>
  assert.deepEqual(wrap(`a ${"bcdefgh,".repeat(4)}`, 22, 2), [
    "  a",
    "  bcdefgh,bcdefgh,",
    "  bcdefgh,bcdefgh,",
  ]));

test("the width comes from COLUMNS, the terminal, or is 80", () => {
  assert.deepEqual(
    [
      terminalWidth({ COLUMNS: "120" }, 90),
      terminalWidth({}, 90),
      terminalWidth({ COLUMNS: "x" }),
      terminalWidth({ COLUMNS: "5" }),
    ],
    [120, 90, 80, 40],
  );
});

test("the reference page has both defaults and escapes its cells", () => {
  const page = renderReference(set, { title: "agent", introduction: ["Hello."] });
  assert.match(page, /^# agent\n/);
  assert.ok(
    page.includes(
      "| `--port` | `port` | int32 | `10255` without a file, `0` with one | Port to serve on, for everyone who asks for it. **Deprecated**: set port in the file. |",
    ),
  );
  assert.ok(page.includes("Limits &lt;x\\|y>."));
  assert.ok(page.includes("| Early | ALPHA | off |"));
});
