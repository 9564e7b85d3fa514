// `orch config`: checks configuration files, explains settings, and converts command lines into files.

import { basename } from "node:path";
import { type Dialect, chosenDialect } from "#dialect";
import {
  type AnyOption,
  type ConfigFile,
  type OptionSet,
  type Settled,
  defaultText,
  description,
  hint,
  migratedConfig,
  nearest,
  problemText,
  readConfigFile,
  settle,
  settledTable,
  wrap,
} from "#options";
import type { Output } from "./output.ts";

type Values = Settled<Readonly<Record<string, unknown>>>;

interface Program {
  readonly set: OptionSet;
  settle(argv: readonly string[], purpose: "start" | "look"): Promise<Values>;
}

const usage = `Usage:
  orch config check FILE...                    Check configuration files, each according to its kind.
  orch config check -- PROGRAM [flags]         Check a whole command line as at program start.
  orch config explain NAME...                  Explain a flag or a configuration field.
  orch config explain -- PROGRAM [flags]       List every setting with its value and origin.
  orch config migrate -- PROGRAM [flags]       Print the configuration file equivalent to these flags.

PROGRAM is orch-apiserver or nodeagent. --dialect may be given anywhere.
`;

/** Runs `orch config …`; resolves with the exit code. */
export async function configCommand(argv: readonly string[], output: Output): Promise<number> {
  const separator = argv.indexOf("--");
  const own = separator < 0 ? argv : argv.slice(0, separator);
  const words = own.filter((word, at) => !/^--dialect(=|$)/.test(word) && own[at - 1] !== "--dialect");
  const [program, ...flags] = separator < 0 ? [] : argv.slice(separator + 1);
  const choice = chosenDialect([...own, ...flags]);
  const [verb, ...names] = words;
  if (verb === undefined || verb === "help" || words.includes("-h") || words.includes("--help")) {
    (verb === undefined ? output.err : output.out)(usage);
    return verb === undefined ? 1 : 0;
  }
  if ("problem" in choice) return fail(output, choice.problem);
  const { dialect } = choice;
  switch (verb) {
    case "check":
      if (program !== undefined) return checkCommandLine(dialect, program, flags, output);
      return names.length > 0
        ? checkFiles(dialect, names, output)
        : fail(output, "specify a file to check, or a command line after --");
    case "explain":
      if (program !== undefined) return explainCommandLine(dialect, program, flags, output);
      return names.length > 0
        ? explainNames(dialect, names, output)
        : fail(output, "specify a setting to explain, or a command line after --");
    case "migrate":
      return program === undefined
        ? fail(output, "specify a command line to migrate, after --")
        : migrate(dialect, program, flags, output);
    default:
      return fail(
        output,
        `unknown command: orch config ${verb}${hint(verb, ["check", "explain", "migrate"])}`,
      );
  }
}

function fail(output: Output, message: string): number {
  output.err(`error: ${message}\n\n${usage}`);
  return 1;
}

/** Returns a program by its own name or that of the dialect. */
async function programNamed(name: string, dialect: Dialect): Promise<Program | undefined> {
  const called = basename(name);
  if (called === "nodeagent" || called === dialect.cli.agent) {
    const { nodeagentOptions, settleNodeagent } = await import("#nodeagent");
    return {
      set: nodeagentOptions(dialect),
      settle: (argv, purpose) => settleNodeagent(dialect, argv, { purpose }),
    };
  }
  if (called === "orch-apiserver" || called === dialect.cli.apiServer) {
    const { apiserverOptions, settleApiserver } = await import("#apiserver");
    return {
      set: apiserverOptions(dialect),
      settle: (argv, purpose) => settleApiserver(dialect, argv, { purpose }),
    };
  }
  return undefined;
}

async function withProgram(
  dialect: Dialect,
  name: string,
  output: Output,
  run: (program: Program) => Promise<number>,
): Promise<number> {
  const program = await programNamed(name, dialect);
  return program
    ? run(program)
    : fail(output, `${JSON.stringify(name)} is not a known program; use orch-apiserver or nodeagent`);
}

function printProblems(program: Program, settled: Values, output: Output): boolean {
  for (const warning of settled.warnings) output.err(`note: ${warning}\n`);
  if (settled.errors.length > 0) output.err(problemText(program.set, settled.errors, "would not start"));
  return settled.errors.length === 0;
}

const checkCommandLine = (
  dialect: Dialect,
  name: string,
  flags: readonly string[],
  output: Output,
): Promise<number> =>
  withProgram(dialect, name, output, async (program) => {
    const good = printProblems(program, await program.settle(flags, "start"), output);
    if (good) output.out("all settings are valid\n");
    return good ? 0 : 1;
  });

/** Checks files. Those of one program are merged in order, as the program does at start. */
async function checkFiles(dialect: Dialect, paths: readonly string[], output: Output): Promise<number> {
  const files = await Promise.all(paths.map((path) => readConfigFile(path)));
  const agent = (await programNamed("nodeagent", dialect))!;
  const server = (await programNamed("orch-apiserver", dialect))!;
  let code = 0;
  for (const program of [server, agent]) {
    const own = files.filter((file) => (isOf(server.set, file) ? server : agent) === program);
    if (own.length === 0) continue;
    const settled = settle(program.set, [], { files: own, purpose: "check" });
    for (const warning of settled.warnings) output.err(`note: ${warning}\n`);
    for (const error of settled.errors) output.err(`error: ${error}\n`);
    const notes = settled.warnings.length > 0 ? "; see the notes above" : "";
    if (settled.errors.length === 0)
      output.out(`${own.map(({ path }) => path).join(", ")}: all settings are valid${notes}\n`);
    else code = 1;
  }
  return code;
}

function isOf(set: OptionSet, { root }: ConfigFile): boolean {
  const kind = root?.is === "map" && root.entries.find(({ key }) => key === "kind")?.value;
  return kind && kind.is === "scalar" ? set.file!.some((known) => known.kind === kind.value) : false;
}

const explainCommandLine = (
  dialect: Dialect,
  name: string,
  flags: readonly string[],
  output: Output,
): Promise<number> =>
  withProgram(dialect, name, output, async (program) => {
    const settled = await program.settle(flags, "look");
    const good = printProblems(program, settled, output);
    output.out(settledTable(program.set, settled));
    return good ? 0 : 1;
  });

async function explainNames(dialect: Dialect, names: readonly string[], output: Output): Promise<number> {
  const programs = [
    (await programNamed("orch-apiserver", dialect))!,
    (await programNamed("nodeagent", dialect))!,
  ];
  let code = 0;
  for (const name of names) {
    const wanted = name.replace(/^--?/, "").replaceAll("_", "-").split("=", 1)[0]!;
    const found = programs.flatMap(({ set }) =>
      optionsOf(set)
        .filter((option) => spellings(set, option).includes(wanted))
        .map((option) => explanation(set, option)),
    );
    if (found.length > 0) output.out(found.join("\n"));
    else {
      const close = nearest(
        wanted,
        programs.flatMap(({ set }) => optionsOf(set).flatMap((option) => spellings(set, option))),
      );
      output.err(
        `error: ${JSON.stringify(name)} is not a setting${close ? `; did you mean ${close}?` : ""}\n`,
      );
      code = 1;
    }
  }
  return code;
}

const optionsOf = (set: OptionSet): readonly AnyOption[] => set.sections.flatMap(({ options }) => options);
const spellings = (set: OptionSet, option: AnyOption): string[] => [
  ...(option.flag ? [option.flag, set.dialect.spelling.flag(option.flag), ...(option.aliases ?? [])] : []),
  ...(option.config ? [option.config, set.dialect.spelling.field(option.config)] : []),
];

function explanation(set: OptionSet, option: AnyOption): string {
  const rows: [string, string][] = [
    ["program", set.program],
    ...(option.flag
      ? [["flag", `--${option.flag}${option.short ? `, -${option.short}` : ""}`] as [string, string]]
      : []),
    ...(option.config ? [["field", set.dialect.spelling.field(option.config)] as [string, string]] : []),
    ["type", option.type.name || "bool"],
    [
      "default",
      option.legacyDefault === undefined
        ? defaultText(option) || "none"
        : `${option.type.format(option.legacyDefault)} without a file, ${option.type.format(option.default)} with one`,
    ],
    ...(option.gate ? [["gate", set.dialect.spelling.word(option.gate)] as [string, string]] : []),
  ];
  const text = description(set, option).replace(/ \(default .*\)$/, "");
  return `${rows.map(([label, value]) => `${label.padEnd(8)} ${value}\n`).join("")}${wrap(text, 100, 2).join("\n")}\n`;
}

const migrate = (dialect: Dialect, name: string, flags: readonly string[], output: Output): Promise<number> =>
  withProgram(dialect, name, output, async (program) => {
    if (!program.set.file) return fail(output, `${program.set.program} has no configuration file`);
    const settled = await program.settle(flags, "look");
    if (settled.errors.length > 0) {
      output.err(problemText(program.set, settled.errors, "would not start"));
      return 1;
    }
    for (const warning of settled.warnings.filter((line) => !line.startsWith("Flag ")))
      output.err(`note: ${warning}\n`);
    output.out(await migratedConfig(program.set, settled));
    return 0;
  });
