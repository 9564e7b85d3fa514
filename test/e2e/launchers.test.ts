// The launchers in a copy of the package with a small program in place of ours: they can be started from
// anywhere, use one process, and pass on exit codes.
import assert from "node:assert/strict";
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { cpSync, mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { needs } from "#kit";

const root = join(import.meta.dirname, "..", "..");
const program = `
process.on("SIGTERM", () => process.exit(7));
console.log(JSON.stringify({ args: process.argv.slice(2), node: process.versions.node, pid: process.pid }));
if (process.argv[2] === "wait") setInterval(() => {}, 1000);
if (process.argv[2] === "fail") process.exit(3);
`;
let copy = "";
before(() => {
  copy = realpathSync(mkdtempSync(join(tmpdir(), "orch-launchers-")));
  cpSync(join(root, "bin"), join(copy, "bin"), { recursive: true });
  symlinkSync(join(root, "node_modules"), join(copy, "node_modules"));
  mkdirSync(join(copy, "dist", "bin"), { recursive: true });
  writeFileSync(join(copy, "package.json"), JSON.stringify({ type: "module" }));
  writeFileSync(join(copy, "dist", "bin", "orch.js"), program);
});
after(() => rmSync(copy, { recursive: true }));

const run = (
  command: string,
  args: readonly string[],
  options: { cwd?: string; env?: NodeJS.ProcessEnv } = {},
) => spawnSync(command, args, { encoding: "utf8", timeout: 120_000, ...options });
const printed = (stdout: string): { args: string[]; node: string; pid: number } =>
  JSON.parse(stdout) as { args: string[]; node: string; pid: number };

test("a launcher runs from any directory and passes arguments unchanged", () => {
  const { stdout, status } = run(join(copy, "bin", "orch"), ["a", "b c", "--d=*", ""], { cwd: tmpdir() });
  assert.deepEqual({ args: printed(stdout).args, status }, { args: ["a", "b c", "--d=*", ""], status: 0 });
});

test("a launcher runs through a symbolic link, also one to a link", () => {
  symlinkSync(join(copy, "bin", "orch"), join(copy, "first"));
  symlinkSync("first", join(copy, "second"));
  assert.deepEqual(printed(run("./second", ["x"], { cwd: copy }).stdout).args, ["x"]);
});

test("the program runs on Node 24 or newer", () => {
  assert.ok(Number.parseInt(printed(run(join(copy, "bin", "orch"), []).stdout).node, 10) >= 24);
});

test("help recorded by the build is printed without running the program; anything else runs it", () => {
  const folder = join(copy, "dist", "help");
  mkdirSync(folder, { recursive: true });
  for (const dialect of ["orch", "kubernetes"])
    writeFileSync(join(folder, `orch.${dialect}.txt`), `help of ${dialect}\n`);
  const { COLUMNS: _, ...env } = process.env;
  const launcher = join(copy, "bin", "orch");
  const helped: [args: string[], text: string][] = [
    [["--help"], "help of orch\n"],
    [["-h"], "help of orch\n"],
    [["--help", "--dialect=kubernetes"], "help of kubernetes\n"],
  ];
  for (const [args, text] of helped)
    assert.deepEqual([run(launcher, args, { env }).stdout, run(launcher, args, { env }).status], [text, 0]);
  for (const args of [[], ["up", "--help"], ["--help", "--v=1"], ["--dialect=klingon", "--help"]])
    assert.deepEqual(printed(run(launcher, args, { env }).stdout).args, args);
  const narrow = run(launcher, ["--help"], { env: { ...env, COLUMNS: "60" } });
  assert.deepEqual(printed(narrow.stdout).args, ["--help"]);
  rmSync(folder, { recursive: true });
});

test("the launcher replaces itself with the program: one process, which receives signals", async () => {
  const child = spawn(join(copy, "bin", "orch"), ["wait"], { stdio: ["ignore", "pipe", "inherit"] });
  const [line] = (await once(child.stdout, "data")) as [Buffer];
  assert.equal(printed(line.toString()).pid, child.pid);
  child.kill("SIGTERM");
  assert.deepEqual(await once(child, "exit"), [7, null]);
});

test("a launcher started by an old Node forwards signals and the exit code", async () => {
  const child = spawn("node", [join(copy, "bin", "orch"), "wait"], {
    stdio: ["ignore", "pipe", "inherit"],
    env: systemEnvironment(),
  });
  await once(child.stdout, "data");
  child.kill("SIGTERM");
  assert.deepEqual(await once(child, "exit"), [7, null]);
  assert.equal(run("node", [join(copy, "bin", "orch"), "fail"], { env: systemEnvironment() }).status, 3);
});

test("a program without build and source fails with a message", () => {
  const { status, stderr } = run(join(copy, "bin", "nodeagent"), []);
  assert.deepEqual({ status, stderr }, { status: 1, stderr: "orch: nodeagent: not built yet\n" });
});

test("without any Node a launcher reports what is missing", () => {
  const bare = join(copy, "bare");
  cpSync(join(copy, "bin"), join(bare, "bin"), { recursive: true });
  const { status, stderr } = run("/bin/sh", [join(bare, "bin", "orch")], {
    env: { PATH: folderWithOnly("readlink") },
  });
  assert.equal(status, 1);
  assert.match(stderr, /requires Node\.js/);
});

// Minimal systems lack a library that the pinned Node needs: the test hides it in a mount namespace.
test(
  "without the library that the pinned Node needs a launcher runs on another Node, or reports what to install",
  needs("root", "unshare", "mount"),
  () => {
    const hidden = join(copy, "hidden");
    mkdirSync(hidden);
    const hide = `mount -t tmpfs none ${hidden} && mkdir ${hidden}/upper ${hidden}/work && library=$(echo /usr/lib/*-linux-gnu/libatomic.so.1) && folder=\${library%/*} &&
    mount -t overlay none -o lowerdir=$folder,upperdir=${hidden}/upper,workdir=${hidden}/work $folder && rm $library && exec "$0" "$@"`;
    const { status, stdout, stderr } = run(
      "unshare",
      ["-m", "sh", "-c", hide, join(copy, "bin", "orch"), "x"],
      { env: systemEnvironment() },
    );
    if (status === 0) assert.ok(Number.parseInt(printed(stdout).node, 10) >= 24);
    else
      assert.match(
        stderr,
        /^orch: needs Node\.js 24 or newer and found only v.*needs libatomic\.so\.1: install that \(Debian: apt-get install libatomic1\)/,
      );
  },
);

// Returns the environment with a PATH without the folder where npm puts the pinned Node.
function systemEnvironment(): NodeJS.ProcessEnv {
  const PATH = (process.env["PATH"] ?? "")
    .split(":")
    .filter((folder) => !folder.includes("node_modules"))
    .join(":");
  return { ...process.env, PATH };
}

function folderWithOnly(name: string): string {
  const folder = join(copy, "path");
  mkdirSync(folder);
  symlinkSync(run("/bin/sh", ["-c", `command -v ${name}`]).stdout.trim(), join(folder, name));
  return folder;
}
