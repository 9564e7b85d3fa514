import assert from "node:assert/strict";
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { describe, test } from "node:test";

const gone = 'process.send(""); await new Promise((resolve) => process.once("disconnect", resolve));';
const starting: [name: string, before: string, after: string][] = [
  ["while it starts", "", 'process.send("");'],
  ["before it starts", gone, ""],
];

/** A program that reports readiness, and finally why it stopped. */
const script = `
  import { reasonToStop, notifySupervisor } from ${JSON.stringify(join(import.meta.dirname, "channel.ts"))};
  const reason = reasonToStop();
  notifySupervisor({ ready: "here" });
  const alive = setInterval(() => undefined, 1000);
  process.stdout.write(await reason);
  clearInterval(alive);
`;

const reasons: [name: string, end: (child: ChildProcess) => void, reason: string][] = [
  ["terminated", (child) => void child.kill("SIGTERM"), "SIGTERM"],
  ["interrupted", (child) => void child.kill("SIGINT"), "SIGINT"],
  ["disconnected from its supervisor", (child) => child.disconnect(), "the supervisor has exited"],
];
// These mostly wait for processes, so they run concurrently.
describe("programs with a supervisor", { concurrency: true }, () => {
  for (const [name, end, reason] of reasons) {
    test(`a program that is ${name} knows the reason to stop`, async () => {
      const child = spawn(process.execPath, ["--input-type=module", "--eval", script], {
        stdio: ["ignore", "pipe", "inherit", "ipc"],
      });
      const output = text(child.stdout!);
      const [message] = (await once(child, "message")) as [unknown];
      assert.deepEqual(message, { ready: "here" });
      end(child);
      assert.equal(await output, reason);
    });
  }

  for (const [name, before, after] of starting)
    test(`a program whose supervisor exits ${name} ends`, async () => {
      const lines = `
        import { exitWithSupervisor } from ${JSON.stringify(join(import.meta.dirname, "channel.ts"))};
        setInterval(() => undefined, 1000);
        ${before}
        exitWithSupervisor();
        ${after}
      `;
      const child = spawn(process.execPath, ["--input-type=module", "--eval", lines], {
        stdio: ["ignore", "ignore", "inherit", "ipc"],
      });
      await once(child, "message");
      child.disconnect();
      assert.deepEqual(await once(child, "exit"), [1, null]);
    });
});
