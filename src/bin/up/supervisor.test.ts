import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, describe, test } from "node:test";
import { systemClock, virtualClock } from "#base";
import { type ProcessState, type Supervised, startOf, supervise } from "./supervisor.ts";

const folder = mkdtempSync(join(tmpdir(), "orch-supervisor-"));
after(() => rmSync(folder, { recursive: true }));

/** Runs a script, and resolves when it has reached a state. */
function supervised(
  script: string,
  logFile = join(folder, `${Math.random()}.log`),
  stopTimeoutMilliseconds = 1000,
): {
  readonly part: Supervised;
  readonly states: ProcessState[];
  reached(is: ProcessState["is"], times?: number): Promise<ProcessState>;
} {
  const states: ProcessState[] = [];
  let look = (): void => undefined;
  const part = supervise(
    {
      name: "part",
      command: process.execPath,
      args: ["-e", script],
      logFile,
      stopTimeoutMilliseconds: stopTimeoutMilliseconds,
    },
    systemClock,
    (state) => {
      states.push(state);
      look();
    },
  );
  const reached = (is: ProcessState["is"], times = 1): Promise<ProcessState> =>
    new Promise((resolve) => {
      look = () => {
        const found = states.filter((state) => state.is === is);
        if (found.length >= times) resolve(found[times - 1]!);
      };
      look();
    });
  return { part, states, reached };
}

const ready = 'process.send({ phase: "waking" }); process.send({ ready: "https://here" });';
const endless = "setInterval(() => {}, 1000);";

// These mostly wait for processes, so they run concurrently.
describe("supervised processes", { concurrency: true }, () => {
  test("phases and readiness are reported, and a stop ends the process", async () => {
    const { part, states } = supervised(`${ready} ${endless}`);
    await part.ready;
    assert.deepEqual(
      states.map(({ is }) => is),
      ["starting", "starting", "ready"],
    );
    assert.deepEqual(states[1], { is: "starting", phase: "waking" });
    await part.stop();
    assert.equal(states.at(-1)!.is, "stopped");
  });

  test("a program without a channel is polled until it is ready", async () => {
    let requests = 0;
    const states: string[] = [];
    const plan = {
      name: "part",
      command: process.execPath,
      args: ["-e", `if (process.send) process.exit(1); ${endless}`],
      logFile: join(folder, "mute.log"),
      stopTimeoutMilliseconds: 1000,
    };
    const part = supervise(
      { ...plan, isReady: () => Promise.resolve(++requests === 3) },
      systemClock,
      ({ is }) => states.push(is),
    );
    await part.ready;
    await part.stop();
    assert.deepEqual([requests, states], [3, ["starting", "ready", "stopped"]]);
  });

  test("a process that exits after it was ready is restarted", async () => {
    const { part, reached } = supervised(`${ready} ${endless}`);
    await part.ready;
    process.kill(part.pid!, "SIGKILL");
    const state = await reached("restarting");
    assert.deepEqual(state, { is: "restarting", why: "was terminated by SIGKILL", inMilliseconds: 500 });
    await reached("ready", 2);
    await part.stop();
  });

  test("a process is restarted although its log cannot be opened anymore", async () => {
    const logs = mkdtempSync(join(folder, "logs-"));
    const { part, reached } = supervised(
      `${ready} process.on("SIGHUP", () => process.exit(3)); ${endless}`,
      join(logs, "part.log"),
    );
    await part.ready;
    rmSync(logs, { recursive: true });
    writeFileSync(logs, "");
    process.kill(part.pid!, "SIGHUP");
    await reached("restarting");
    await reached("ready", 2);
    await part.stop();
  });

  test("a process that fails to start is not restarted, and its last lines exclude those of an earlier run", async () => {
    const logFile = join(folder, "words.log");
    writeFileSync(logFile, "words of an earlier run\n");
    const { part, reached } = supervised(
      'console.error("the store is damaged"); process.exitCode = 3;',
      logFile,
    );
    await assert.rejects(part.ready, /exited with code 3/);
    assert.deepEqual(await reached("failed"), {
      is: "failed",
      why: "exited with code 3",
      lastLines: ["the store is damaged"],
    });
    await part.stop();
  });

  test("a missing program is reported", async () => {
    const states: ProcessState[] = [];
    const part = supervise(
      {
        name: "part",
        command: join(folder, "nothing"),
        args: [],
        logFile: join(folder, "log"),
        stopTimeoutMilliseconds: 1,
      },
      systemClock,
      (state) => states.push(state),
    );
    await assert.rejects(part.ready, /could not be started/);
  });

  test("a process that does not exit is killed after the timeout", async () => {
    const script = `process.on("SIGTERM", () => {}); ${ready} ${endless}`;
    const { part, states } = supervised(script, join(folder, "patience.log"), 50);
    await part.ready;
    await part.stop();
    assert.equal(states.at(-1)!.is, "stopped");
  });

  test("a kill ends a process that ignores signals, and nothing is restarted", async () => {
    const { part, states, reached } = supervised(`process.on("SIGTERM", () => {}); ${ready} ${endless}`);
    await part.ready;
    part.kill();
    await reached("stopped");
    assert.equal(states.at(-1)!.is, "stopped");
  });
});

const starts: [name: string, ready: () => Promise<void>, outcome: string][] = [
  ["is ready in time", () => Promise.resolve(), "ready"],
  ["fails", () => Promise.reject(new Error("no")), "failed"],
  ["does neither", () => new Promise(() => undefined), "slow"],
];
for (const [name, ready, outcome] of starts) {
  test(`a part that ${name} is ${outcome}`, async () => {
    const clock = virtualClock();
    const start = startOf({ ready: ready() }, clock, 1000);
    await new Promise((resolve) => setImmediate(resolve));
    await clock.advance(1000);
    assert.equal(await start, outcome);
  });
}
