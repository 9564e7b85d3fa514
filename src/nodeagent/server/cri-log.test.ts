import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { appendFileSync, renameSync, writeFileSync } from "node:fs";
import {
  appendFile,
  chmod,
  mkdtemp,
  readFile,
  readdir,
  rename,
  rm,
  stat,
  symlink,
  writeFile,
} from "node:fs/promises";
import { setImmediate, setTimeout } from "node:timers/promises";
import { gunzipSync } from "node:zlib";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { type TestContext, test } from "node:test";
import { silentLog, systemClock, virtualClock } from "#base";
import type { ContainerRuntime } from "#cri";
import type { PodRegistry } from "../interfaces.ts";
import { readLog } from "./cri-log.ts";
import { rotateLogs } from "./log-rotation.ts";

const line = (text: string, tag = "F"): string => `2024-01-01T00:00:00Z stdout ${tag} ${text}\n`;

async function following(t: TestContext) {
  const folder = await mkdtemp(join(tmpdir(), "cri-log-"));
  t.after(() => rm(folder, { recursive: true, force: true }));
  const path = join(folder, "0.log");
  await writeFile(path, line("one"));
  let seen = "";
  let runs = true;
  let wake: () => void = () => undefined;
  const stop = new AbortController();
  const query = { follow: true, timestamps: false };
  const write = (bytes: Uint8Array): Promise<void> => {
    seen += Buffer.from(bytes).toString();
    wake();
    return Promise.resolve();
  };
  t.after(() => stop.abort());
  const done = readLog({
    path,
    query,
    clock: systemClock,
    isRunning: () => runs,
    write,
    signal: stop.signal,
  });
  const until = async (text: string): Promise<void> => {
    while (seen !== text) await new Promise<void>((resolve) => (wake = resolve));
  };
  return { path, done, until, end: () => (runs = false), stop: () => stop.abort(), seen: () => seen };
}

test("following returns lines as they are written, complete lines only", async (t) => {
  const { path, done, until, end, seen } = await following(t);
  await until("one\n");
  await appendFile(path, line("two").slice(0, -3));
  await appendFile(path, "wo\n");
  await until("one\ntwo\n");
  end();
  await appendFile(path, line("last"));
  await done;
  assert.equal(seen(), "one\ntwo\nlast\n");
});

test("following continues in the new file when the log is rotated", async (t) => {
  const { path, done, until, end } = await following(t);
  await until("one\n");
  await appendFile(path, line("two"));
  await rename(path, `${path}.aside`);
  await appendFile(`${path}.aside`, line("three"));
  await writeFile(path, line("four"));
  await until("one\ntwo\nthree\nfour\n");
  end();
  await done;
});

test("following loses no lines of a log that is rotated at any moment", async (t) => {
  const { path, done, until, end, seen } = await following(t);
  let expected = "one\n";
  for (let index = 0; index < 200; index++) {
    await until(expected);
    for (let turn = 0; turn < index % 5; turn++) await setImmediate();
    appendFileSync(path, line(`old ${index}`));
    renameSync(path, `${path}.aside`);
    writeFileSync(path, line(`new ${index}`));
    expected += `old ${index}\nnew ${index}\n`;
    await Promise.race([until(expected), setTimeout(2000, undefined, { ref: false })]);
    assert.equal(seen(), expected);
  }
  end();
  await done;
});

test("a long line is searched for its end once", async (t) => {
  const { path, done, until, end } = await following(t);
  await until("one\n");
  const searches = t.mock.method(Buffer.prototype as { indexOf(value: unknown): number }, "indexOf").mock;
  const text = "x".repeat(4 * 1024 * 1024);
  end();
  await appendFile(path, line(text));
  await done;
  const searched = searches.calls
    .filter(({ arguments: [value] }) => value === 10)
    .map(({ this: bytes }) => bytes as Buffer)
    .filter((bytes) => bytes.toString("latin1", 0, 500).includes("xxx"))
    .reduce((total, { length }) => total + length, 0);
  assert.ok(searched < 2 * text.length, `${searched} bytes were searched`);
});

const reads: [
  name: string,
  query: { timestamps?: boolean; tailLines?: number; since?: number },
  text: string,
  expected: string,
][] = [
  [
    "the parts of a line have one timestamp",
    { timestamps: true },
    `${line("one", "P")}${line("two", "P")}${line("three")}${line("next")}`,
    "2024-01-01T00:00:00.000000000Z onetwothree\n2024-01-01T00:00:00.000000000Z next\n",
  ],
  [
    "an incomplete line at the end does not count as one of the last lines",
    { tailLines: 1 },
    `${line("one")}${line("two")}${line("cut").trimEnd()}`,
    "two\n",
  ],
  [
    "a line that is older than the previous one is compared by itself",
    { since: Date.parse("2024-01-01T00:00:00Z") },
    `${line("one")}2023-01-01T00:00:00Z stdout F old\n${line("two")}`,
    "one\ntwo\n",
  ],
];
for (const [name, query, text, expected] of reads)
  test(`of a log ${name}`, async (t) => {
    const folder = await mkdtemp(join(tmpdir(), "cri-log-"));
    t.after(() => rm(folder, { recursive: true, force: true }));
    const path = join(folder, "0.log");
    await writeFile(path, text);
    let seen = "";
    await readLog({
      path,
      query: { follow: false, timestamps: false, ...query },
      clock: systemClock,
      isRunning: () => false,
      write: async (bytes) => void (seen += Buffer.from(bytes).toString()),
      signal: new AbortController().signal,
    });
    assert.equal(seen, expected);
  });

test("following ends when the reader disconnects", async (t) => {
  const { done, until, stop } = await following(t);
  await until("one\n");
  stop();
  await done;
});

test("the last lines are found across many blocks", async (t) => {
  const folder = await mkdtemp(join(tmpdir(), "cri-log-"));
  t.after(() => rm(folder, { recursive: true, force: true }));
  const path = join(folder, "0.log");
  const lines = Array.from({ length: 5000 }, (_, i) => `${i} ${"x".repeat(i % 200)}`);
  await writeFile(path, lines.map((text) => line(text)).join(""));
  for (const tailLines of [1, 2, 1000, 4999, 5000, 6000]) {
    let seen = "";
    const write = (bytes: Uint8Array): Promise<void> => {
      seen += Buffer.from(bytes).toString();
      return Promise.resolve();
    };
    await readLog({
      path,
      query: { follow: false, timestamps: false, tailLines },
      clock: systemClock,
      isRunning: () => false,
      write,
      signal: new AbortController().signal,
    });
    assert.equal(
      seen,
      lines
        .slice(-tailLines)
        .map((text) => `${text}\n`)
        .join(""),
    );
  }
});

async function rotating(t: TestContext) {
  const folder = await mkdtemp(join(tmpdir(), "rotation-"));
  t.after(() => rm(folder, { recursive: true, force: true }));
  const clock = virtualClock(Date.UTC(2024, 0, 1));
  const path = join(folder, "0.log");
  const reopened: string[] = [];
  let refuses = false;
  const runtime = {
    reopenContainerLog: async (id: string) => {
      if (refuses) throw new Error("no");
      reopened.push(id);
      await writeFile(path, "");
    },
  } as unknown as ContainerRuntime;
  const registry = {
    pods: () => [{ metadata: { uid: "u" } }],
    containers: () => [{ name: "c", id: "id", state: "running", attempt: 0, logPath: path }],
  } as unknown as PodRegistry;
  const rotate = (): Promise<void> =>
    rotateLogs({ clock, log: silentLog, runtime, registry, largestBytes: 10, mostFiles: 3 });
  return { folder, path, clock, rotate, reopened, refuse: () => (refuses = true) };
}

test("an oversized log is rotated, older ones are compressed, the oldest are removed", async (t) => {
  const { folder, path, clock, rotate, reopened } = await rotating(t);
  for (const text of ["first file", "second one", "third file", "fourth one"]) {
    await writeFile(path, text);
    await rotate();
    await clock.advance(1000);
  }
  assert.equal(reopened.length, 4);
  assert.deepEqual((await readdir(folder)).toSorted(), [
    "0.log",
    "0.log.20240101-000002.gz",
    "0.log.20240101-000003",
  ]);
  assert.equal(gunzipSync(await readFile(join(folder, "0.log.20240101-000002.gz"))).toString(), "third file");
  assert.equal(await readFile(join(folder, "0.log.20240101-000003"), "utf8"), "fourth one");
});

test("a small log is left alone, and a log that cannot be reopened is restored", async (t) => {
  const { folder, path, rotate, reopened, refuse } = await rotating(t);
  await writeFile(path, "small");
  await rotate();
  assert.deepEqual(reopened, []);
  await writeFile(path, "large enough");
  refuse();
  await rotate();
  assert.deepEqual(await readdir(folder), ["0.log"]);
  assert.equal(await readFile(path, "utf8"), "large enough");
});

test("a missing log file is reopened", async (t) => {
  const { rotate, reopened } = await rotating(t);
  await rotate();
  assert.deepEqual(reopened, ["id"]);
});

test("a pipe in the place of a log is neither read nor compressed", async (t) => {
  const { folder, path, clock, rotate } = await rotating(t);
  const aside = join(folder, "0.log.20230101-000000");
  execFileSync("mkfifo", [path, aside]);
  const query = { follow: false, timestamps: false };
  const { signal } = new AbortController();
  const reading = { path, query, clock, isRunning: () => true, write: () => Promise.resolve(), signal };
  await assert.rejects(readLog(reading), /0\.log is not a regular file/);
  await rm(path);
  await writeFile(path, "a large log");
  await rotate();
  assert.deepEqual((await readdir(folder)).toSorted(), ["0.log", basename(aside), "0.log.20240101-000000"]);
});

test("compressing a log neither follows a link in the place of its draft nor widens its permissions", async (t) => {
  const { folder, path, rotate } = await rotating(t);
  const [aside, other] = [join(folder, "0.log.20230101-000000"), join(folder, "other")];
  await writeFile(other, "of the host");
  await writeFile(aside, "the first log");
  await chmod(aside, 0o600);
  await symlink(other, `${aside}.tmp`);
  await writeFile(path, "a large log");
  await rotate();
  assert.equal(await readFile(other, "utf8"), "of the host");
  assert.equal(gunzipSync(await readFile(`${aside}.gz`)).toString(), "the first log");
  assert.equal((await stat(`${aside}.gz`)).mode & 0o777, 0o600);
});
