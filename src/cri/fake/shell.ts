// A minimal shell that runs the typical scripts of test containers in memory.
//
//   echo [-n] words [> file | >> file | >&2]   cat file   sleep 0.5   exit 3   true   false   :   wait   $NAME   ${NAME}
//   a ; b   a && b   a || b   a &   while true; do …; done   trap 'exit 0' TERM   sh -c '…'
import type { Program, World } from "./program.ts";

class Exit extends Error {
  readonly code: number;
  constructor(code: number) {
    super(`exit ${code}`);
    this.code = code;
  }
}

const words = new Set([
  "sh",
  "ash",
  "bash",
  "echo",
  "printf",
  "cat",
  "sleep",
  "exit",
  "true",
  "false",
  ":",
  "wait",
  "trap",
  "pause",
  "while",
  "test",
  "[",
]);
const baseName = (path: string): string => path.slice(path.lastIndexOf("/") + 1);

/**
 * Reports whether the shell can run this; an empty command counts as the image's own program, which waits.
 */
export const isKnown = (argv: readonly string[]): boolean =>
  argv.length === 0 || words.has(baseName(argv[0]!));

/** Runs the world's arguments. */
export const shell: Program = async (world) => {
  try {
    return await command(world, [...world.argv]);
  } catch (error) {
    if (error instanceof Exit) return error.code;
    throw error;
  }
};

async function command(world: World, argv: readonly string[]): Promise<number> {
  const [name = "pause", ...rest] = argv;
  switch (baseName(name)) {
    case "sh":
    case "ash":
    case "bash":
      return rest[0] === "-c"
        ? script(world, rest[1] ?? "")
        : rest.length === 0
          ? world.forever()
          : script(world, world.readFile(rest[0]!) ?? "false");
    case "echo": {
      const newLine = rest[0] !== "-n";
      world.print("stdout", (newLine ? rest : rest.slice(1)).join(" ") + (newLine ? "\n" : ""));
      return 0;
    }
    case "printf":
      world.print("stdout", (rest[0] ?? "").replaceAll("\\n", "\n"));
      return 0;
    case "cat": {
      const text = rest[0] === undefined ? undefined : world.readFile(rest[0]);
      if (text === undefined) {
        world.print("stderr", `cat: can't open '${rest[0] ?? ""}': No such file or directory\n`);
        return 1;
      }
      world.print("stdout", text);
      return 0;
    }
    case "sleep":
      await world.sleep(Number(rest[0] ?? 0) * 1000);
      return 0;
    case "test":
    case "[":
      return rest[0] === "-f" || rest[0] === "-e"
        ? world.readFile(rest[1] ?? "") === undefined
          ? 1
          : 0
        : rest.length > 0
          ? 0
          : 1;
    case "exit":
      throw new Exit(Number(rest[0] ?? 0));
    case "true":
    case ":":
    case "wait":
      return 0;
    case "false":
      return 1;
    case "pause":
      return world.forever();
    default:
      world.print("stderr", `sh: ${name}: not found\n`);
      return 127;
  }
}

/** Runs a script; an exit in a trap handler interrupts it. */
async function script(world: World, text: string): Promise<number> {
  const interrupted = Promise.withResolvers<never>();
  interrupted.promise.catch(() => {});
  const state: State = { world, interrupt: interrupted.reject, behind: [] };
  return Promise.race([block(state, text), interrupted.promise]);
}

interface State {
  readonly world: World;
  readonly interrupt: (exit: Exit) => void;
  /** Background jobs. */
  readonly behind: Promise<unknown>[];
}

async function block(state: State, text: string): Promise<number> {
  let code = 0;
  let rest = text.trim();
  let join = ";";
  while (rest) {
    const loop = /^while\s+(?:true|:)\s*;\s*do\s/.exec(rest);
    if (loop) {
      const end = endOfLoop(rest, loop[0].length);
      const body = rest.slice(loop[0].length, end).replace(/;\s*$/, "");
      for (;;) {
        await block(state, body);
        // A loop without a sleep must not block the test process.
        await state.world.sleep(0);
      }
    }
    const [statement, separator, length] = first(rest);
    const skipped = (join === "&&" && code !== 0) || (join === "||" && code === 0);
    if (!skipped && statement) {
      const running = simple(state, statement);
      if (separator === "&") state.behind.push(running.catch(() => {}));
      else code = await running;
    }
    join = separator === "&&" || separator === "||" ? separator : ";";
    rest = rest.slice(length).trim();
  }
  return code;
}

function endOfLoop(text: string, from: number): number {
  const end = text.lastIndexOf("done");
  if (end < from) throw new Exit(2);
  return end;
}

/** Returns the first statement, its separator, and the length of both. Quotes are respected. */
function first(text: string): [statement: string, separator: string, length: number] {
  let quote = "";
  for (let at = 0; at < text.length; at++) {
    const letter = text[at]!;
    if (quote) {
      if (letter === quote) quote = "";
    } else if (letter === "'" || letter === '"') quote = letter;
    else {
      const separator = /^(&&|\|\||;|\n|&(?!\d))/.exec(text.slice(at))?.[0];
      if (separator && text[at - 1] !== ">")
        return [text.slice(0, at).trim(), separator, at + separator.length];
    }
  }
  return [text.trim(), "", text.length];
}

async function simple({ world, interrupt, behind }: State, statement: string): Promise<number> {
  const { argv, target } = parsed(statement, world.env);
  if (argv[0] === "exec") argv.shift();
  if (argv[0] === "wait") {
    await Promise.all(behind);
    return 0;
  }
  if (argv[0] === "trap") {
    const [, action = "", ...signals] = argv;
    const code = /^exit(?:\s+(\d+))?$/.exec(action.trim());
    if (code && signals.some((signal) => signal === "TERM" || signal === "SIGTERM" || signal === "15"))
      world.onTerm(() => interrupt(new Exit(Number(code[1] ?? 0))));
    return 0;
  }
  if (!target) return command(world, argv);
  const { to, append } = target;
  let text = "";
  const code = await command(
    {
      ...world,
      print: (stream, part) =>
        stream === "stderr"
          ? world.print(stream, part)
          : to === "&2"
            ? world.print("stderr", part)
            : void (text += part),
    },
    argv,
  );
  if (to !== "&2" && to !== "/dev/null") world.writeFile(to, text, { append });
  return code;
}

function parsed(
  statement: string,
  env: Readonly<Record<string, string>>,
): { argv: string[]; target: { readonly to: string; readonly append: boolean } | undefined } {
  const argv: string[] = [];
  let target: { readonly to: string; readonly append: boolean } | undefined;
  const expand = (text: string): string =>
    text.replace(
      /\$(?:\{(\w+)\}|(\w+))/g,
      (_, braced: string | undefined, bare: string | undefined) => env[braced ?? bare!] ?? "",
    );
  const pattern = /(>>|>)\s*(&2|[^\s'"]+)|((?:'[^']*'|"[^"]*"|[^\s'">]+)+)/g;
  for (const [, arrow, to, word] of statement.matchAll(pattern)) {
    if (arrow) target = { to: expand(to!), append: arrow === ">>" };
    else
      argv.push(
        word!.replace(
          /'([^']*)'|"([^"]*)"|([^'"]+)/g,
          (_, single: string | undefined, double: string | undefined, bare: string | undefined) =>
            single ?? expand(double ?? bare!),
        ),
      );
  }
  return { argv, target };
}
