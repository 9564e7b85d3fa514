import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import type { ContainerStatus } from "#cri";
import { fromLog, terminationMessage } from "./termination-message.ts";

const logs: [name: string, text: string, expected: string][] = [
  ["whole lines", "t stdout F one\nt stderr F two\n", "one\ntwo\n"],
  ["parts of a line", "t stdout P on\nt stdout F e\n", "one\n"],
  ["malformed lines", "garbage\nt stdout F ok\n", "ok\n"],
  ["lines of a terminal", "t stdout F one\r\nt stdout F two\r\n", "one\r\ntwo\r\n"],
  ["nothing", "", ""],
];
for (const [name, text, message] of logs)
  test(`the end of a log with ${name}`, () => assert.equal(fromLog(text), message));
test("only the last lines and bytes of a log are used", () => {
  const text = Array.from({ length: 200 }, (_, i) => `t stdout F line ${i}\n`).join("");
  assert.equal(fromLog(text).split("\n").length, 81);
  assert.ok(fromLog(text).endsWith("line 199\n"));
  assert.equal(Buffer.byteLength(fromLog(`t stdout F ${"x".repeat(5000)}\n`)), 2048);
});

const cases: [name: string, file: string, policy: string, exitCode: number, expected: string][] = [
  ["its message file", "last words", "File", 1, "last words"],
  ["empty if the message file is empty", "", "File", 1, ""],
  [
    "its log if the message file is empty and the policy allows that",
    "",
    "FallbackToLogsOnError",
    1,
    "from the log\n",
  ],
  ["not its log if it exited successfully", "", "FallbackToLogsOnError", 0, ""],
  ["its message file rather than its log", "words", "FallbackToLogsOnError", 1, "words"],
  [
    "the end of a message file that is too long",
    "x".repeat(5000) + "end",
    "File",
    1,
    `${"x".repeat(4093)}end`,
  ],
];
for (const [name, file, policy, exitCode, message] of cases) {
  test(`a container's termination message is ${name}`, async () => {
    const folder = mkdtempSync(join(tmpdir(), "orch-words-"));
    try {
      writeFileSync(join(folder, "message"), file);
      writeFileSync(join(folder, "log"), "t stderr F from the log\n");
      const status = {
        exitCode,
        logPath: join(folder, "log"),
        mounts: [{ containerPath: "/dev/x", hostPath: join(folder, "message") }],
      } as unknown as ContainerStatus;
      assert.equal(
        await terminationMessage(status, {
          hash: "",
          restartCount: 0,
          terminationMessagePath: "/dev/x",
          terminationMessagePolicy: policy,
        }),
        message,
      );
    } finally {
      rmSync(folder, { recursive: true });
    }
  });
}

const unread: [name: string, reason: string, message: (folder: string) => string][] = [
  [
    "the error of a log that is missing",
    "Error",
    (folder) =>
      `Error on reading termination message from logs: failed to try resolving symlinks in path "${folder}/log": lstat ${folder}/log: no such file or directory`,
  ],
  ["empty if the container could not be started", "ContainerCannotRun", () => ""],
];
for (const [name, reason, message] of unread)
  test(`a termination message is ${name}`, async (t) => {
    const folder = mkdtempSync(join(tmpdir(), "orch-words-"));
    t.after(() => rmSync(folder, { recursive: true }));
    const mounts = [{ containerPath: "/dev/x", hostPath: join(folder, "message") }];
    const status = {
      exitCode: 1,
      reason,
      logPath: join(folder, "log"),
      mounts,
    } as unknown as ContainerStatus;
    const labels = {
      hash: "",
      restartCount: 0,
      terminationMessagePath: "/dev/x",
      terminationMessagePolicy: "FallbackToLogsOnError",
    };
    assert.equal(await terminationMessage(status, labels), message(folder));
  });
