import assert from "node:assert/strict";
import { type Server, createServer } from "node:http";
import { type AddressInfo, createServer as createTcpServer } from "node:net";
import { describe, test } from "node:test";
import type { Container } from "#api";
import { virtualClock } from "#base";
import { type ContainerRuntime, ExecTimeout, fakeRuntime } from "#cri";
import { type ProbeResult, runProbe, portNumber } from "./run-probe.ts";
import { headersOf } from "./http-get.ts";
import { type ProbeWorker, probeWorker } from "./probe-worker.ts";

const container = { name: "c", ports: [{ name: "web", containerPort: 8080 }] } as unknown as Container;
/**
 * Runs a probe with a long timeout, since this process, including the server, may stall for more than a
 * second.
 */
const runOnce = (probe: object, podIp = "127.0.0.1"): Promise<ProbeResult> =>
  runProbe(
    { timeoutSeconds: 60, ...probe },
    {
      runtime: fakeRuntime(),
      container,
      containerId: "x",
      podIp,
      userAgent: "probe/1",
      signal: new AbortController().signal,
    },
  );

interface ProbeRequest {
  readonly url: string;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
}

async function onServer(play: (port: number, requests: ProbeRequest[]) => Promise<void>): Promise<void> {
  const requests: ProbeRequest[] = [];
  const server: Server = createServer((request, response) => {
    requests.push({ url: request.url ?? "", headers: request.headers });
    const code = Number(/code=(\d+)/.exec(request.url ?? "")?.[1] ?? 200);
    const to = /to=([^&]+)/.exec(request.url ?? "")?.[1];
    response.writeHead(to ? 302 : code, to ? { location: decodeURIComponent(to) } : {}).end("body");
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  try {
    await play((server.address() as AddressInfo).port, requests);
  } finally {
    server.close();
  }
}

const answers: [path: string, result: string, output: RegExp][] = [
  ["/ok", "success", /body/],
  ["/x?code=399", "warning", /Probe terminated redirects, Response body: body/],
  ["/x?code=404", "failure", /statuscode: 404/],
  ["/x?code=500", "failure", /statuscode: 500/],
  ["/x?to=%2Fok", "success", /body/],
  ["/x?to=http%3A%2F%2Fexample.invalid%2F", "warning", /Probe terminated redirects/],
];
for (const [path, result, output] of answers) {
  test(`an HTTP probe of ${path} is a ${result}`, () =>
    onServer(async (port, requests) => {
      const answer = await runOnce({ httpGet: { path, port, httpHeaders: [{ name: "X-A", value: "b" }] } });
      assert.equal(answer.result, result);
      assert.match(answer.output, output);
      assert.deepEqual(
        [requests[0]?.url, requests[0]?.headers["x-a"], requests[0]?.headers["user-agent"]],
        [path, "b", "probe/1"],
      );
    }));
}

test("an HTTP probe requests a path that is not valid in a URL as written", () =>
  onServer(async (port, requests) => {
    const answer = await runOnce({ httpGet: { path: "a b/ä#c", port } });
    assert.deepEqual([answer.result, requests[0]?.url], ["success", "/a%20b/%C3%A4"]);
  }));

// Each waits one second for nothing, so they run concurrently.
describe("ports without a listener", { concurrency: true }, () => {
  test("a closed port is a failure for every kind of probe", async () => {
    const server = createTcpServer();
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const { port } = server.address() as AddressInfo;
    assert.equal((await runOnce({ tcpSocket: { port } })).result, "success");
    await new Promise((resolve) => server.close(resolve));
    for (const probe of [
      { tcpSocket: { port } },
      { httpGet: { port } },
      { grpc: { port }, timeoutSeconds: 1 },
    ])
      assert.equal((await runOnce(probe)).result, "failure", JSON.stringify(probe));
  });

  test("addresses of IPv6 are put in brackets", async () => {
    const server = createTcpServer();
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const { port } = server.address() as AddressInfo;
    await new Promise((resolve) => server.close(resolve));
    const outputs = ["tcpSocket", "httpGet", "grpc"].map(
      async (kind) => (await runOnce({ [kind]: { port }, timeoutSeconds: 1 }, "::1")).output,
    );
    const refused = `dial tcp [::1]:${port}: connect: connection refused`;
    assert.deepEqual(await Promise.all(outputs), [
      refused,
      `Get "http://[::1]:${port}/": ${refused}`,
      `timeout: failed to connect service "[::1]:${port}" within 1s: context deadline exceeded`,
    ]);
  });

  test("a gRPC probe retries to connect until its timeout", async () => {
    const server = createTcpServer();
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const { port } = server.address() as AddressInfo;
    await new Promise((resolve) => server.close(resolve));
    const { result, output } = await runOnce({ grpc: { port }, timeoutSeconds: 1 });
    assert.deepEqual(
      [result, output],
      [
        "failure",
        `timeout: failed to connect service "127.0.0.1:${port}" within 1s: context deadline exceeded`,
      ],
    );
  });
});

test("the command of a probe may refer to the container's own variables", async () => {
  let ran: readonly string[] = [];
  const runtime: ContainerRuntime = {
    ...fakeRuntime(),
    execSync: async (_, command) => {
      ran = command;
      return { exitCode: 0, stdout: new Uint8Array(), stderr: new Uint8Array() };
    },
  };
  const env = [
    { name: "FILE", value: "/ready" },
    { name: "SOURCED", valueFrom: { fieldRef: { fieldPath: "metadata.name" } } },
  ];
  await runProbe(
    { exec: { command: ["cat", "$(FILE)", "[$(SOURCED)]", "$(OTHER)", "$$(FILE)"] } },
    {
      runtime,
      container: { ...container, env },
      containerId: "x",
      podIp: "",
      userAgent: "probe/1",
      signal: new AbortController().signal,
    },
  );
  assert.deepEqual(ran, ["cat", "/ready", "[]", "$(OTHER)", "$(FILE)"]);
});

test("a port may be a named container port", () => {
  assert.deepEqual(
    [portNumber(80, container), portNumber("81", container), portNumber("web", container)],
    [80, 81, 8080],
  );
  assert.throws(() => portNumber("none", container), /strconv.Atoi: parsing "none": invalid syntax/);
  assert.throws(() => portNumber(70_000, container), /invalid port/);
});

test("headers: given ones override defaults, empty ones remove them", () => {
  assert.deepEqual(
    headersOf(
      [
        { name: "User-agent", value: "mine" },
        { name: "Accept", value: "" },
      ],
      "ours",
    ),
    [
      ["User-Agent", "mine"],
      ["Connection", "close"],
    ],
  );
  assert.deepEqual(
    headersOf(
      [
        { name: "x-b", value: "1" },
        { name: "host", value: "named" },
        { name: "x-b", value: "2" },
        { name: "a", value: "0" },
      ],
      "ours",
    ),
    [
      ["Host", "named"],
      ["User-Agent", "ours"],
      ["A", "0"],
      ["Accept", "*/*"],
      ["X-B", "1"],
      ["X-B", "2"],
      ["Connection", "close"],
    ],
  );
});

test("a request starts with Host and User-Agent", async () => {
  const server = createTcpServer();
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  const head = new Promise<string>((resolve) =>
    server.once("connection", (socket) =>
      socket.once("data", (bytes) => {
        resolve(bytes.toString());
        socket.end("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n");
      }),
    ),
  );
  await runOnce({ httpGet: { port, path: "/x" } });
  assert.equal(
    await head,
    `GET /x HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nUser-Agent: probe/1\r\nAccept: */*\r\nConnection: close\r\n\r\n`,
  );
  await new Promise((resolve) => server.close(resolve));
});

/** Responses whose bodies end early, reset the connection, or hang. */
const badBodies: [name: string, response: string, end: "end" | "hang", error: RegExp][] = [
  ["is cut", "200 OK\r\nContent-Length: 9\r\n\r\nbody", "end", /^unexpected EOF$/],
  ["of a failure is cut", "500 No\r\nContent-Length: 9\r\n\r\n", "end", /^unexpected EOF$/],
  [
    "hangs",
    "200 OK\r\nContent-Length: 9\r\n\r\nbody",
    "hang",
    /^context deadline exceeded \(Client.Timeout or context cancellation while reading body\)$/,
  ],
];
describe("bodies that cannot be read", { concurrency: true }, () => {
  for (const [name, response, end, message] of badBodies) {
    test(`an HTTP probe whose body ${name} is an error, not a failure`, async (t) => {
      const server = createTcpServer((socket) => {
        socket.on("error", () => undefined);
        socket.once("data", () => {
          socket.write(`HTTP/1.1 ${response}`);
          if (end === "end") socket.end();
        });
      });
      await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
      t.after(() => server.close());
      const { port } = server.address() as AddressInfo;
      const timeoutSeconds = end === "hang" ? 1 : 60;
      await assert.rejects(runOnce({ httpGet: { port }, timeoutSeconds }), { message });
    });
  }
});

const runs: [name: string, probe: object, answers: string, verdicts: string][] = [
  ["good at once", {}, "gg", "good@0"],
  ["bad after three failures in a row by default", {}, "bbb", "bad@20"],
  ["a success in between resets the count", {}, "bbgbbb", "good@20 bad@50"],
  ["good only after successThreshold successes", { successThreshold: 2 }, "ggg", "good@10"],
  [
    "bad at the first failure with failureThreshold 1",
    { failureThreshold: 1, periodSeconds: 1 },
    "gb",
    "good@0 bad@1",
  ],
  ["probe errors do not count", { failureThreshold: 2 }, "beb", "bad@20"],
];
for (const [name, probe, given, expected] of runs) {
  test(`verdict: ${name}`, async () => {
    const clock = virtualClock();
    const left = given.split("");
    const verdicts: string[] = [];
    const { stop } = probeWorker({
      clock,
      probe,
      runProbe: () => {
        const next = left[0];
        if (next === undefined) return undefined;
        if (next === "e") {
          errors++;
          if (errors % 3 === 0) left.shift();
          return Promise.reject(new Error("no"));
        }
        left.shift();
        return Promise.resolve({ result: next === "g" ? "success" : "failure", output: "" } as ProbeResult);
      },
      onFailure: () => undefined,
      onVerdict: (good) => {
        const text = `${good ? "good" : "bad"}@${clock.now() / 1000}`;
        if (verdicts.at(-1)?.split("@")[0] !== text.split("@")[0]) verdicts.push(text);
        return true;
      },
    });
    let errors = 0;
    for (let i = 0; i < 70; i++) {
      await new Promise((resolve) => setImmediate(resolve));
      await clock.advance(1000);
    }
    stop();
    assert.equal(verdicts.join(" "), expected);
  });
}

/** Runs a worker whose probe takes some time, and returns the seconds at which it was executed. */
async function ticksOf(
  options: { readonly delayMilliseconds?: number; readonly probeSeconds?: number; readonly at?: number },
  events: Readonly<Record<number, (worker: ProbeWorker) => void>> = {},
): Promise<readonly number[]> {
  const clock = virtualClock();
  const times: number[] = [];
  const worker = probeWorker({
    clock,
    probe: { periodSeconds: 10 },
    ...options,
    runProbe: async () => {
      times.push(clock.now() / 1000);
      if (options.probeSeconds) await clock.sleep(options.probeSeconds * 1000);
      return { result: "success", output: "" };
    },
    onFailure: () => undefined,
    onVerdict: () => true,
  });
  for (let second = 0; second < 45; second++) {
    await new Promise((resolve) => setImmediate(resolve));
    events[second]?.(worker);
    await new Promise((resolve) => setImmediate(resolve));
    await clock.advance(1000);
  }
  worker.stop();
  return times;
}

test("a probe runs at the ticks of its period, which a run in between does not move", async () => {
  assert.deepEqual(await ticksOf({}), [0, 10, 20, 30, 40]);
  assert.deepEqual(await ticksOf({ delayMilliseconds: 7000 }), [7, 17, 27, 37]);
  assert.deepEqual(await ticksOf({}, { 17: (worker) => worker.now() }), [0, 10, 17, 20, 30, 40]);
});

test("ticks missed during a slow probe are made up for once", async () => {
  assert.deepEqual(await ticksOf({ probeSeconds: 13 }), [0, 13, 26, 39]);
  assert.deepEqual(
    await ticksOf({ probeSeconds: 3 }, { 1: (worker) => worker.now() }),
    [0, 3, 10, 20, 30, 40],
  );
});

test("of a container known from before, the first result decides, then the thresholds apply", async () => {
  const clock = virtualClock();
  const answers = ["failure", "success", "failure", "failure", "failure"] as const;
  const verdicts: string[] = [];
  let at = 0;
  const worker = probeWorker({
    clock,
    probe: { successThreshold: 2 },
    runProbe: () => Promise.resolve({ result: answers[at++] ?? "failure", output: "" } as ProbeResult),
    onFailure: () => undefined,
    onVerdict: (good) => {
      verdicts.push(`${good ? "good" : "bad"}@${clock.now() / 1000}`);
      return true;
    },
  });
  worker.decideNext();
  for (let second = 0; second < 45; second++) {
    await new Promise((resolve) => setImmediate(resolve));
    await clock.advance(1000);
  }
  worker.stop();
  assert.deepEqual(verdicts, ["bad@0", "bad@40"]);
});

test("a command timeout is a failure, or ignored if ExecProbeTimeout is off", async () => {
  const late = new ExecTimeout(["sleep"], 1);
  const runtime = { ...fakeRuntime(), execSync: () => Promise.reject(late) };
  const resultOf = (ignoresLateCommands: boolean): Promise<ProbeResult> =>
    runProbe(
      { exec: { command: ["sleep"] } },
      {
        runtime,
        container,
        containerId: "x",
        podIp: "127.0.0.1",
        userAgent: "probe/1",
        ignoresLateCommands,
        signal: new AbortController().signal,
      },
    );
  assert.deepEqual(await resultOf(false), { result: "failure", output: late.message });
  await assert.rejects(resultOf(true), late);
});

test("header values are sent as UTF-8", () =>
  onServer(async (port, requests) => {
    const httpHeaders = [{ name: "X-Word", value: "größe 大" }];
    assert.equal((await runOnce({ httpGet: { port, httpHeaders } })).result, "success");
    const sent = String(requests[0]!.headers["x-word"]);
    assert.equal(Buffer.from(sent, "latin1").toString(), "größe 大");
  }));
