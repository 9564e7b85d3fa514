import assert from "node:assert/strict";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { commandShell } from "./command-shell.ts";

test("programs run one after the other, with their words as they are", async () => {
  const folder = mkdtempSync(join(tmpdir(), "orch-shell-"));
  const shell = commandShell();
  try {
    const odd = join(folder, "it's $HOME `odd`\n#done 1 0");
    await Promise.all([shell.run("touch", [odd]), shell.run("sh", ["-c", `echo one >> '${folder}/log'`]), shell.run("sh", ["-c", `echo two >> '${folder}/log'`])]);
    assert.equal(readFileSync(odd, "utf8"), "");
    assert.equal(readFileSync(join(folder, "log"), "utf8"), "one\ntwo\n");
  } finally {
    shell.close();
    rmSync(folder, { recursive: true });
  }
});

const failures: [name: string, command: string, args: string[], message: RegExp][] = [
  ["a program that fails tells what it said", "sh", ["-c", "echo out; echo wrong >&2; exit 3"], /^out\nwrong$/],
  ["a program that fails silently tells its code", "sh", ["-c", "exit 7"], /exit code 7/],
  ["a program that is missing is told", "/no/such/program", [], /not found/],
];
for (const [name, command, args, message] of failures) {
  test(name, async () => {
    const shell = commandShell();
    try {
      await assert.rejects(shell.run(command, args), (error: Error) => message.test(error.message));
      await shell.run("true", []);
    } finally {
      shell.close();
    }
  });
}

test("a program that hangs is given up, and the next one runs", async () => {
  const shell = commandShell({ timeLimitMilliseconds: 50 });
  try {
    await assert.rejects(shell.run("sh", ["-c", "while :; do read x < /dev/zero; done"]), /too long/);
    await shell.run("true", []);
  } finally {
    shell.close();
  }
});
