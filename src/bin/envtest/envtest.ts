// `orch envtest`: writes a folder with the programs that envtest harnesses start, all provided by this
// package.
import { accessSync, chmodSync, constants, mkdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { delimiter, join, resolve } from "node:path";
import { releases } from "#base";
import { commandLineClient, originalDialect } from "#dialect";
import type { Output } from "./store-stand-in.ts";
import { controllersVariable, envtestVariable } from "./variables.ts";

const usage = `Usage:
  orch envtest [--dir DIR] [--controllers] [--release RELEASE]

Writes a folder with the programs that envtest harnesses start, and prints its path.
  --dir DIR       The folder (default: ./envtest-bin).
  --controllers   Run garbage collection and namespace deletion, as in a whole cluster.
  --release RELEASE
                  Serve the API of this release, with the features of ${releases[0]} to ${releases.at(-1)} that exist
                  here (default: ${releases[0]}). A --release flag of the harness takes precedence.
`;

const names = originalDialect.cli;
/** Name of the store program that harnesses start. */
const storeProgram = "etcd";

export interface Programs {
  commandOf(program: string): readonly string[];
}

export async function envtestCommand(
  args: readonly string[],
  programs: Programs,
  output: Output,
): Promise<number> {
  if (args.includes("--help") || args.includes("-h")) {
    output.out(usage);
    return 0;
  }
  const settled = settingsOf(args);
  if (!settled) {
    output.err(usage);
    return 1;
  }
  if (settled.release !== undefined && !releases.includes(settled.release)) {
    output.err(`error: --release=${settled.release}: must be one of ${releases.join(", ")}\n`);
    return 1;
  }
  const folder = resolve(settled.dir);
  writeLaunchers(folder, programs, settled);
  // Only the path is written to standard output, so that a shell can assign it.
  output.err(
    `${names.apiServer} and ${storeProgram} were written; export ${assetsVariable} with this path:\n`,
  );
  output.out(`${folder}\n`);
  return 0;
}

/** The environment variable by which harnesses find the programs. */
const assetsVariable = "KUBEBUILDER_ASSETS";

interface EnvtestSettings {
  readonly dir: string;
  readonly controllers: boolean;
  readonly release: string | undefined;
}

function settingsOf(args: readonly string[]): EnvtestSettings | undefined {
  const values = new Map<string, string>();
  let controllers = false;
  for (let at = 0; at < args.length; at++) {
    const arg = args[at]!;
    const [, name, joined] = /^--(dir|release)(?:=(.*))?$/.exec(arg) ?? [];
    const value = name === undefined ? undefined : (joined ?? args[++at]);
    if (arg === "--controllers") controllers = true;
    else if (name !== undefined && value !== undefined) values.set(name, value);
    else return undefined;
  }
  return { dir: values.get("dir") ?? "envtest-bin", controllers, release: values.get("release") };
}

function writeLaunchers(
  folder: string,
  { commandOf }: Programs,
  { controllers, release }: EnvtestSettings,
): void {
  mkdirSync(folder, { recursive: true });
  const orch = commandOf("orch").map(quoted).join(" ");
  const server = commandOf("orch-apiserver").map(quoted).join(" ");
  const help = `${server} ${quoted(`--dialect=${originalDialect.name}`)} --help`;
  const variables = [envtestVariable, ...(controllers ? [controllersVariable] : [])];
  write(
    join(folder, names.apiServer),
    `case " $* " in *" --help "*|*" -h "*) exec ${help} ;; esac
export ${variables.map((variable) => `${variable}=1`).join(" ")}
exec ${server}${release === undefined ? "" : ` --release=${release}`} "$@"
`,
  );
  write(join(folder, storeProgram), `exec ${orch} envtest store "$@"\n`);
  const client = onPath(commandLineClient.program);
  const link = join(folder, commandLineClient.program);
  rmSync(link, { force: true });
  if (client) symlinkSync(client, link);
}

function write(path: string, body: string): void {
  rmSync(path, { force: true });
  writeFileSync(path, `#!/bin/sh\n# Written by orch envtest.\n${body}`);
  chmodSync(path, 0o755);
}

const quoted = (text: string): string => `'${text.replaceAll("'", String.raw`'\''`)}'`;

/** Returns the path of an installed program, or undefined. */
function onPath(program: string): string | undefined {
  return (process.env["PATH"] ?? "")
    .split(delimiter)
    .map((folder) => join(folder, program))
    .find((path) => {
      try {
        accessSync(path, constants.X_OK);
        return true;
      } catch {
        return false;
      }
    });
}
