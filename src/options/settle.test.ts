import assert from "node:assert/strict";
import { test } from "node:test";
import { dialects } from "#dialect";
import { dialectOption, helpOption, versionOption, file } from "./common.ts";
import { parseConfigFile } from "./config-file.ts";
import { featureGates } from "./gates.ts";
import { listOf, mapOf, strings, struct } from "./list-type.ts";
import {
  type Gate,
  type OptionSet,
  type OptionsOf,
  type SettingsOf,
  fileOption,
  option,
  section,
} from "./option.ts";
import { atLeast, bool, duration, int32, oneOf, text } from "./option-type.ts";
import { type Sources, settle } from "./settle.ts";
import { configOf, migratedConfig } from "./write-config.ts";

const gates: readonly Gate[] = [
  { name: "AllAlpha", stage: "ALPHA", default: false },
  { name: "AllBeta", stage: "BETA", default: false },
  { name: "Early", stage: "ALPHA", default: false },
  { name: "NodeAgentLate", stage: "BETA", default: true },
  { name: "Done", stage: "GA", default: true, locked: true },
];

const sectionsOf = (dialect = dialects.orch) =>
  [
    section("First", [
      option({
        flag: "max-pods",
        config: "maxPods",
        type: int32,
        default: 110,
        check: atLeast(0),
        deprecated: "set maxPods in the file",
        doc: "Pods.",
      }),
      option({
        flag: "read-only-port",
        config: "readOnlyPort",
        type: int32,
        default: 0,
        legacyDefault: 10255,
        doc: "Port.",
      }),
      option({
        flag: "event-qps",
        config: "eventQPS",
        type: int32,
        default: 50,
        fromFlag: (value) => (value === 0 ? 50 : value),
        doc: "Events.",
      }),
      option({
        flag: "orch-mode",
        config: "orchMode",
        type: oneOf("a", "b"),
        default: "a",
        unavailable: "it comes later",
        doc: "Mode.",
      }),
      option({ flag: "trial", config: "trial", type: bool, default: false, gate: "Early", doc: "Trial." }),
      option({ flag: "names", config: "nested.names", type: strings, default: ["x"], doc: "Names." }),
      option({
        flag: "reserved",
        config: "nested.reserved",
        type: mapOf(text, { merges: true }),
        default: {},
        doc: "Reserved.",
      }),
      option({ flag: "ca-file", type: file, default: "", readable: true, doc: "File." }),
    ]),
    section("Second", [
      option({ flag: "update", config: "update", type: duration, default: 10_000, doc: "Update." }),
      fileOption({
        config: "report",
        type: duration,
        default: 300_000,
        derive: (look) =>
          look.isSet("update") ? { value: look.value("update") as number, from: "update" } : undefined,
        doc: "Report.",
      }),
      option({
        flag: "feature-gates",
        config: "featureGates",
        type: featureGates(gates, dialect),
        default: {},
        doc: "Gates.",
      }),
      dialectOption(dialect),
      helpOption,
      versionOption,
    ]),
  ] as const;
type Settings = SettingsOf<OptionsOf<ReturnType<typeof sectionsOf>>>;
const setOf = (dialect = dialects.orch): OptionSet<OptionsOf<ReturnType<typeof sectionsOf>>> => ({
  program: "agent",
  summary: "An agent.",
  dialect,
  sections: sectionsOf(dialect),
  gates,
  file: [{ apiVersion: "agent/v1", kind: "Config" }],
  retired: { old: "use --max-pods" },
  checks: [
    {
      name: "pods and port differ",
      run: (settings: Settings, blame) => {
        if (settings.maxPods === settings.readOnlyPort) blame(["maxPods", "readOnlyPort"], "must differ");
      },
    },
    {
      name: "something is needed for a start",
      startOnly: true,
      run: (settings: Settings, blame) => {
        if (settings.names.length === 0) blame(["names"], "must not be empty");
      },
    },
  ],
});

const head = "apiVersion: agent/v1\nkind: Config\n";
async function run(
  argv: readonly string[],
  texts: readonly string[] = [],
  sources: Sources = {},
  dialect = dialects.orch,
) {
  const files = await Promise.all(
    texts.map((content, i) => parseConfigFile(i === 0 ? "c.yaml" : `d${i}.yaml`, content)),
  );
  return settle(setOf(dialect), argv, { ...sources, files });
}

test("without flags and files the defaults apply, the legacy ones where they differ", async () => {
  const { values, provenance, errors, warnings } = await run([]);
  assert.deepEqual([values.maxPods, values.readOnlyPort, values.report], [110, 10255, 300_000]);
  assert.deepEqual(
    [provenance.maxPods, provenance.readOnlyPort],
    [{ from: "default" }, { from: "legacy default" }],
  );
  assert.deepEqual([errors, warnings], [[], []]);
});

test("a file has its own defaults and values, and flags take precedence over both", async () => {
  const { values, provenance } = await run(
    ["--max-pods=7"],
    [`${head}maxPods: 5\nnested:\n  names: [a, b]\n`],
  );
  assert.deepEqual([values.readOnlyPort, values.maxPods, values.names], [0, 7, ["a", "b"]]);
  assert.deepEqual(provenance.readOnlyPort, { from: "default" });
  assert.deepEqual(provenance.names, { from: "file", file: "c.yaml", line: 5, path: "nested.names" });
  assert.deepEqual(provenance.maxPods, { from: "flag", spelled: "--max-pods", text: "7" });
});

test("later files take precedence over earlier ones, maps are merged by key", async () => {
  const { values } = await run(
    [],
    [
      `${head}maxPods: 5\nnested: {reserved: {cpu: "1", memory: 1Gi}}\n`,
      `${head}maxPods: 6\nnested: {reserved: {cpu: "2"}}\n`,
    ],
  );
  assert.deepEqual([values.maxPods, values.reserved], [6, { cpu: "2", memory: "1Gi" }]);
});

test("the first flag of a list replaces the default, further ones append", async () => {
  assert.deepEqual((await run(["--names=a", "--names=b,c"])).values.names, ["a", "b", "c"]);
  assert.deepEqual((await run(["--names=a"], [`${head}nested: {names: [q]}\n`])).values.names, ["a"]);
});

test("gates of flags are merged with those of the file", async () => {
  const settled = await run(
    ["--feature-gates=Early=true"],
    [`${head}featureGates: {NodeAgentLate: false}\n`],
  );
  assert.deepEqual(settled.values.featureGates, { NodeAgentLate: false, Early: true });
  assert.equal(settled.gates.enabled("Early"), true);
  assert.equal(settled.gates.enabled("NodeAgentLate"), false);
});

test("a flag's zero may mean something else than the file's", async () => {
  assert.equal((await run(["--event-qps=0"])).values.eventQps, 50);
  assert.equal((await run([], [`${head}eventQPS: 0\n`])).values.eventQps, 0);
});

test("a derived default is computed from settings that were given", async () => {
  const given = await run([], [`${head}update: 20s\n`]);
  assert.deepEqual(
    [given.values.report, given.provenance.report],
    [20_000, { from: "derived", of: "update" }],
  );
  assert.equal((await run([], [`${head}update: 20s\nreport: 1m\n`])).values.report, 60_000);
});

test("a deprecated flag causes one warning", async () => {
  const { warnings } = await run(["--max-pods=1", "--max_pods=2"]);
  assert.deepEqual(warnings, ["Flag --max-pods has been deprecated, set maxPods in the file"]);
});

test("arguments between flags are kept for a command that accepts them", () => {
  const { values, args, errors } = settle({ ...setOf(), takesArguments: true }, [
    "save",
    "--max-pods",
    "3",
    "a.db",
    "--",
    "--b",
  ]);
  assert.deepEqual(
    { args, errors, maxPods: values.maxPods },
    { args: ["save", "a.db", "--b"], errors: [], maxPods: 3 },
  );
});

test("an empty argument, such as an empty variable of a script, is ignored", async () => {
  assert.deepEqual((await run(["", "--max-pods=3"])).errors, []);
});

// All errors, with their messages.
const wrong: [name: string, argv: string[], file: string | undefined, errors: (string | RegExp)[]][] = [
  ["an unknown flag", ["--max-pod=1"], undefined, ["unknown flag: --max-pod; did you mean --max-pods?"]],
  ["a retired flag", ["--old=1"], undefined, ["unknown flag: --old; it is gone: use --max-pods"]],
  [
    "a stray argument in addition to an empty one",
    ["", "go"],
    undefined,
    ['"agent" does not take any arguments, got ["" "go"]'],
  ],
  ["a stray argument", ["go"], undefined, ['"agent" does not take any arguments, got ["go"]']],
  [
    "a bad value",
    ["--max-pods=x"],
    undefined,
    ['invalid argument "x" for "--max-pods" flag: strconv.ParseInt: parsing "x": invalid syntax'],
  ],
  ["a value out of range", ["--max-pods=-1"], undefined, ["--max-pods=-1 (maxPods): must not be below 0"]],
  [
    "several at once",
    ["--max-pods=x", "--nope", "--trial=maybe"],
    undefined,
    [
      /^invalid argument "x" for "--max-pods"/,
      /^invalid argument "maybe" for "--trial"/,
      /^unknown flag: --nope/,
    ],
  ],
  [
    "conflicting settings",
    ["--max-pods=5", "--read-only-port=5"],
    undefined,
    ["--max-pods=5 (maxPods), --read-only-port=5 (readOnlyPort): must differ"],
  ],
  [
    "a feature that is not available",
    ["--orch-mode=b"],
    undefined,
    ["--orch-mode=b (orchMode): cannot be used: it comes later"],
  ],
  ["a gate that is off", ["--trial"], undefined, ["--trial=true (trial): needs the feature gate Early"]],
  [
    "a file that cannot be read",
    ["--ca-file=absent"],
    undefined,
    ["--ca-file=absent: open absent: no such file or directory"],
  ],
  ["a requirement for starting", ["--names="], undefined, ["--names= (nested.names): must not be empty"]],
  [
    "an unknown gate",
    ["--feature-gates=Erly=true"],
    undefined,
    [
      'invalid argument "Erly=true" for "--feature-gates" flag: unrecognized feature gate: Erly; did you mean Early?',
    ],
  ],
  [
    "a locked gate",
    ["--feature-gates=Done=false"],
    undefined,
    [
      'invalid argument "Done=false" for "--feature-gates" flag: cannot set feature gate Done to false, feature is locked to true',
    ],
  ],
  [
    "an unknown field",
    [],
    `${head}nested:\n  name: [a]\n`,
    ["c.yaml:4: nested.name: unknown field; did you mean nested.names?"],
  ],
  [
    "a field given twice",
    [],
    `${head}maxPods: 1\nmaxPods: 2\n`,
    ["c.yaml:4: maxPods: is given twice; the first is on line 3"],
  ],
  [
    "a wrong type",
    [],
    `${head}maxPods: many\n`,
    ['c.yaml:3: maxPods: must be a whole number, not the string "many"'],
  ],
  [
    "a bad value in a file",
    [],
    `${head}update: soon\n`,
    ['c.yaml:3: update: "soon" must be a duration such as 300ms, 1m30s or 2h'],
  ],
  [
    "a bad item of a list",
    [],
    `${head}nested:\n  names:\n  - a\n  - 5\n`,
    ["c.yaml:6: nested.names[1]: must be a string, not the number 5"],
  ],
  [
    "a value out of range in a file",
    [],
    `${head}maxPods: -1\n`,
    ["c.yaml:3: maxPods: -1: must not be below 0"],
  ],
  ["no kind", [], "apiVersion: agent/v1\n", ["c.yaml:1: kind: is missing; it must be Config"]],
  [
    "a wrong kind",
    [],
    "apiVersion: agent/v2\nkind: Pod\n",
    ['c.yaml:1: apiVersion: "agent/v2" must be agent/v1', 'c.yaml:2: kind: "Pod" must be Config'],
  ],
  ["an empty file", [], "", ["c.yaml: the configuration file is empty"]],
  ["a comment only", [], "# nothing\n", ["c.yaml: the configuration file is empty"]],
  [
    "a list instead of a mapping",
    [],
    "- a\n",
    ["c.yaml:1: a configuration file is a mapping of fields to values"],
  ],
  ["two documents", [], `${head}---\n${head}`, ["c.yaml: holds 2 documents; a configuration file is one"]],
  ["broken YAML", [], `${head}nested: {a: [}\n`, [/^c\.yaml:3: is neither YAML nor JSON/]],
  ["a scalar instead of a mapping", [], `${head}nested: 5\n`, ["c.yaml:3: nested: must be a mapping"]],
  [
    "flag and file together",
    ["--nope"],
    `${head}maxPods: x\n`,
    [/^c\.yaml:3: maxPods/, /^unknown flag: --nope/],
  ],
];
for (const [name, argv, content, expected] of wrong) {
  test(`${name} is reported`, async () => {
    const { errors } = await run(argv, content === undefined ? [] : [content], { readable: () => false });
    assert.equal(errors.length, expected.length, errors.join("\n"));
    expected.forEach((line, i) =>
      typeof line === "string" ? assert.equal(errors[i], line) : assert.match(errors[i]!, line),
    );
  });
}

test("a set that ignores strict errors starts with warnings; a check rejects them", async () => {
  const content = `${head}maxPods: 1\nmaxPods: 2\nnope: 1\nparts:\n- {a: 1, b: {deep: 1}}\n- {stray: 2, a: 3}\n`;
  const options = [
    fileOption({ config: "maxPods", type: int32, default: 110, doc: "Pods." }),
    fileOption({
      config: "parts",
      type: listOf(
        struct<Part>({
          a: { type: int32 },
          b: { type: struct<NonNullable<Part["b"]>>({ c: { type: int32 } }) },
        }),
      ),
      default: [],
      doc: "Parts.",
    }),
  ] as const;
  const set = { ...setOf(), sections: [section("All", options)], checks: [], ignoresStrictErrors: true };
  const files = [await parseConfigFile("c.yaml", content)];
  const strictErrors = [
    "c.yaml:4: maxPods: is given twice; the first is on line 3",
    "c.yaml:5: nope: unknown field",
    "c.yaml:7: parts[0].b.deep: unknown field; known are c",
    "c.yaml:8: parts[1].stray: unknown field; known are a or b",
  ];
  const started = settle(set, [], { files });
  assert.deepEqual(
    [started.errors, started.warnings],
    [[], strictErrors.map((error) => `${error}; it is passed over`)],
  );
  assert.deepEqual([started.values.maxPods, started.values.parts], [2, [{ a: 1, b: {} }, { a: 3 }]]);
  assert.deepEqual(settle(set, [], { files, purpose: "check" }).errors, strictErrors);
});
interface Part {
  readonly a?: number;
  readonly b?: { readonly c?: number };
}

test("a flag may correct a value of the file", async () => {
  assert.deepEqual((await run(["--max-pods=5"], [`${head}maxPods: -1\n`])).errors, []);
});

test("a check that reads an invalid setting is skipped", async () => {
  assert.equal((await run(["--max-pods=x", "--read-only-port=110"])).errors.length, 1);
});

test("displaying a configuration warns of settings that a start would reject", async () => {
  const { errors, warnings } = await run(["--ca-file=absent", "--orch-mode=b", "--names="], [], {
    readable: () => false,
    purpose: "look",
  });
  assert.deepEqual(errors, []);
  assert.equal(warnings.length, 3);
});

test("help and version take precedence over everything else", async () => {
  assert.equal((await run(["--nope", "--max-pods=x", "-h"])).requested, "help");
  assert.equal((await run(["--version"])).requested, "version");
  assert.equal((await run(["--version=false"])).requested, undefined);
  assert.equal((await run(["--version", "--help"])).requested, "help");
});

test("JSON is a configuration file too", async () => {
  const { values, provenance, errors } = await run(
    [],
    ['{\n "apiVersion": "agent/v1", "kind": "Config",\n "maxPods": 5\n}'],
  );
  assert.deepEqual(errors, []);
  assert.deepEqual(
    [values.maxPods, provenance.maxPods],
    [5, { from: "file", file: "c.yaml", line: 3, path: "maxPods" }],
  );
});

test("anchors are resolved, and alias bombs are rejected", async () => {
  assert.deepEqual((await run([], [`${head}nested:\n  names: &n [a]\n  reserved: {}\n`])).errors, []);
  const bomb = [
    "a: &a0 [x]",
    ...Array.from({ length: 20 }, (_, i) => `b${i}: &a${i + 1} [${Array(10).fill(`*a${i}`).join(", ")}]`),
  ].join("\n");
  assert.match((await run([], [bomb])).errors[0]!, /more than 100000 values/);
});

test("null leaves a field unset", async () => {
  assert.equal((await run([], [`${head}maxPods: null\nnested:\n`])).values.maxPods, 110);
});

test("the dialect's spellings are accepted in addition to the canonical ones", async () => {
  const { kubernetes } = dialects;
  const flag = kubernetes.spelling.flag("orch-mode");
  assert.deepEqual((await run([`--${flag}=a`], [], {}, kubernetes)).errors, []);
  assert.deepEqual((await run(["--orch-mode=a"], [], {}, kubernetes)).errors, []);
  assert.deepEqual(
    (
      await run(
        [],
        [
          `${head}${kubernetes.spelling.field("orchMode")}: a\nfeatureGates: {${kubernetes.spelling.word("NodeAgentLate")}: false}\n`,
        ],
        {},
        kubernetes,
      )
    ).values.featureGates,
    { NodeAgentLate: false },
  );
  assert.equal((await run([`--${flag}=a`])).errors.length, 1);
});

test("a settled configuration is written whole, in the order of the declarations", async () => {
  const { values } = await run([], [`${head}maxPods: 5\n`]);
  assert.deepEqual(configOf(setOf(), values), {
    apiVersion: "agent/v1",
    kind: "Config",
    maxPods: 5,
    readOnlyPort: 0,
    eventQPS: 50,
    orchMode: "a",
    trial: false,
    nested: { names: ["x"], reserved: {} },
    update: "10s",
    report: "5m0s",
    featureGates: {},
  });
});

test("a migrated command line keeps its meaning and lists the remaining flags", async () => {
  const settled = await run(["--max-pods=5", "--ca-file=x"], [], { purpose: "look" });
  const text = await migratedConfig(setOf(), settled);
  assert.equal(
    text,
    `# Said here because the defaults differ:
#   readOnlyPort: without a file this was the default; a file's own default is 0
# These have no place in the file and stay on the command line:
#   --ca-file=x
apiVersion: agent/v1
kind: Config
maxPods: 5
readOnlyPort: 10255
`,
  );
  const again = await run([], [text]);
  assert.deepEqual([again.values.maxPods, again.values.readOnlyPort, again.errors], [5, 10255, []]);
});
