import assert from "node:assert/strict";
import { test } from "node:test";
import { type LogOptions, createLog } from "./log.ts";
import { dropNotice } from "./log-format.ts";
import { logSink } from "./log-sink.ts";
import { redacted } from "./redacted.ts";

const at = new Date(2026, 0, 2, 15, 4, 5, 6).getTime();
function recorded(options: LogOptions = {}) {
  const lines: string[] = [];
  const log = createLog({
    now: () => at,
    sink: { write: (line) => void lines.push(line), flush: () => {} },
    ...options,
  });
  return { log, lines };
}
const tail = (line: string | undefined): string => line?.slice(line.indexOf("] ") + 2).trimEnd() ?? "";

test("a text line has severity, time, process, location, message and fields", () => {
  const { log, lines } = recorded();
  log.info("pod stopped", { pod: "a/b", graceSeconds: 30 });
  assert.match(
    lines[0]!,
    /^I0102 15:04:05\.006000 +\d+ log\.test\.ts:\d+\] "pod stopped" pod="a\/b" graceSeconds=30\n$/,
  );
});

const values: [name: string, value: unknown, shown: string][] = [
  ["a string is quoted", 'say "x"\n', String.raw`"say \"x\"\n"`],
  ["a number is bare", 1.5, "1.5"],
  ["a boolean is bare", true, "true"],
  ["null is bare", null, "null"],
  ["a 64-bit integer is bare", 2n ** 63n, "9223372036854775808"],
  [
    "an error shows its message and cause",
    new Error("cannot read", { cause: new Error("no such file") }),
    '"cannot read: no such file"',
  ],
  [
    "an API object shows its namespace and name",
    { metadata: { namespace: "default", name: "web" }, spec: {} },
    '"default/web"',
  ],
  ["a cluster-wide object shows its name", { metadata: { name: "node1" } }, '"node1"'],
  ["plain data is JSON", { a: [1, "x"] }, '{"a":[1,"x"]}'],
  ["bytes show their number", new Uint8Array(5), '"5 bytes"'],
  ["a secret is not shown", redacted("hunter2"), '"[redacted]"'],
  ["a secret inside data is not shown", { token: redacted("hunter2") }, '{"token":"[redacted]"}'],
];
for (const [name, value, shown] of values) {
  test(`in text ${name}`, () => {
    const { log, lines } = recorded();
    log.info("x", { value });
    assert.equal(tail(lines[0]), `"x" value=${shown}`);
  });
}

test("a value that cannot be printed does not throw", () => {
  const { log, lines } = recorded();
  const ring: Record<string, unknown> = {};
  ring["self"] = ring;
  log.info("x", { ring });
  assert.match(lines[0]!, /unprintable/);
});

test("a huge value is truncated", () => {
  const { log, lines } = recorded();
  log.info("x", { huge: "y".repeat(1_000_000) });
  assert.ok(lines[0]!.length < 5000);
});

test("undefined fields are omitted, and fields of the log come first", () => {
  const { log, lines } = recorded();
  log.with({ a: 1 }).with({ b: 2 }).warn("x", { c: undefined, d: 4 });
  assert.equal(tail(lines[0]), '"x" a=1 b=2 d=4');
  assert.equal(lines[0]![0], "W");
});

const levels: [name: string, options: LogOptions, level: number, written: boolean][] = [
  ["above the verbosity is not written", { verbosity: 2 }, 3, false],
  ["at the verbosity is written", { verbosity: 2 }, 2, true],
  ["a module may have a higher level", { modules: [{ pattern: "log*", level: 4 }] }, 4, true],
  ["a module cannot have a lower level", { verbosity: 4, modules: [{ pattern: "log", level: 1 }] }, 4, true],
  ["another module's pattern does not count", { modules: [{ pattern: "server", level: 9 }] }, 1, false],
];
for (const [name, options, level, written] of levels) {
  test(`information ${name}`, () => {
    const { log, lines } = recorded(options);
    log.verbose(level, "x");
    assert.equal(lines.length, written ? 1 : 0);
    assert.equal(log.enabled(level), written);
  });
}

test("verbosity may change while running", () => {
  const { log, lines } = recorded();
  log.setVerbosity(5);
  log.verbose(5, "x");
  assert.equal(lines.length, 1);
});

test("a JSON line is one object", () => {
  const { log, lines } = recorded({ format: "json" });
  log.info("pod stopped", { pod: "a/b", error: new Error("no"), big: 2n ** 63n });
  const { caller, ...rest } = JSON.parse(lines[0]!) as Record<string, unknown>;
  assert.match(String(caller), /^log\.test\.ts:\d+$/);
  assert.deepEqual(rest, {
    ts: at,
    msg: "pod stopped",
    v: 0,
    pod: "a/b",
    error: "no",
    big: "9223372036854775808",
  });
});

test("errors are written to a separate stream if split", () => {
  const info: string[] = [];
  const { log, lines } = recorded({
    format: "json",
    infoSink: { write: (line) => void info.push(line), flush: () => {} },
  });
  log.info("a");
  log.error("b");
  assert.deepEqual([info.length, lines.length], [1, 1]);
});

test("a sink writes whole lines, and the rest after a full pipe", () => {
  let room = 5;
  let taken = "";
  const sink = logSink({
    descriptor: 2,
    output: (_descriptor, bytes) => {
      if (room === 0) throw Object.assign(new Error("full"), { code: "EAGAIN" });
      const part = bytes.subarray(0, room);
      room -= part.length;
      taken += Buffer.from(part).toString();
      return part.length;
    },
  });
  sink.write("hello world\n");
  sink.flush();
  assert.equal(taken, "hello");
  room = 100;
  sink.write("next\n");
  sink.flush();
  assert.equal(taken, "hello world\nnext\n");
});

test("a sink flushes by itself, writing the lines of each turn together", async () => {
  const taken: string[] = [];
  const sink = logSink({
    descriptor: 2,
    output: (_descriptor, bytes) => {
      taken.push(Buffer.from(bytes).toString());
      return bytes.length;
    },
  });
  for (const lines of [["a\n", "b\n"], ["c\n"]]) {
    for (const line of lines) sink.write(line);
    await new Promise((resolve) => setImmediate(resolve));
  }
  assert.deepEqual(taken, ["a\nb\n", "c\n"]);
});

test("a sink with a closed pipe neither throws nor grows", () => {
  let written = 0;
  const sink = logSink({
    descriptor: 2,
    output: () => {
      written++;
      throw Object.assign(new Error("gone"), { code: "EPIPE" });
    },
  });
  sink.write("x\n");
  sink.flush();
  assert.equal(written, 1);
});

const drops: [format: "text" | "json", notice: RegExp][] = [
  ["text", /^W[^\n]*\] "lines of this log were dropped, for its reader is too slow" count=1\n$/],
  [
    "json",
    /^\{"ts":[\d.]+,"caller":"log-sink.ts:0","msg":"lines of this log were dropped, for its reader is too slow","level":"warning","count":1\}\n$/,
  ],
];
for (const [format, notice] of drops) {
  test(`a sink drops the oldest lines beyond its limit and reports their number as ${format}`, () => {
    let taken = "";
    const sink = logSink({
      descriptor: 2,
      bufferBytes: 1000,
      limitBytes: 10,
      notice: dropNotice(format),
      output: (_descriptor, bytes) => {
        taken += Buffer.from(bytes).toString();
        return bytes.length;
      },
    });
    for (const line of ["aaaa\n", "bbbb\n", "cccc\n"]) sink.write(line);
    sink.flush();
    assert.ok(taken.endsWith("bbbb\ncccc\n"));
    assert.match(taken.slice(0, -"bbbb\ncccc\n".length), notice);
  });
}

test("a buffering sink writes its buffer at the flush interval", async () => {
  const arrived = Promise.withResolvers<string>();
  const output = (_descriptor: number, bytes: Uint8Array): number => {
    arrived.resolve(Buffer.from(bytes).toString());
    return bytes.length;
  };
  const alive = setInterval(() => undefined, 1000);
  logSink({ descriptor: 1, bufferBytes: 1000, flushMilliseconds: 10, output }).write("little\n");
  assert.equal(await arrived.promise, "little\n");
  clearInterval(alive);
});

test("a buffering sink writes its buffer when it is full", () => {
  let taken = "";
  const sink = logSink({
    descriptor: 1,
    bufferBytes: 8,
    flushMilliseconds: 60_000,
    output: (_descriptor, bytes) => {
      taken += Buffer.from(bytes).toString();
      return bytes.length;
    },
  });
  sink.write("aaaa\n");
  assert.equal(taken, "");
  sink.write("bbbb\n");
  assert.equal(taken, "aaaa\nbbbb\n");
});

test("a sink without a buffer writes the lines of each turn immediately", async () => {
  const taken: string[] = [];
  const sink = logSink({
    descriptor: 1,
    bufferBytes: 0,
    flushMilliseconds: 60_000,
    output: (_descriptor, bytes) => {
      taken.push(Buffer.from(bytes).toString());
      return bytes.length;
    },
  });
  sink.write("a\n");
  await new Promise((resolve) => setImmediate(resolve));
  assert.deepEqual(taken, ["a\n"]);
});
