import assert from "node:assert/strict";
import { once } from "node:events";
import { type IncomingHttpHeaders, type Server, createServer } from "node:http";
import { createServer as createTlsServer } from "node:https";
import type { AddressInfo } from "node:net";
import { type TestContext, test } from "node:test";
import { selfSigned } from "#authn";
import { virtualClock } from "#base";
import { fakeRuntime } from "#cri";
import { samplePod } from "../pod.fixture.ts";
import { hooks } from "./hooks.ts";

interface Listening {
  readonly port: number;
  readonly requests: IncomingHttpHeaders[];
}

async function listening(t: TestContext, server: Server): Promise<Listening> {
  const requests: IncomingHttpHeaders[] = [];
  server.on("request", (request, response) => {
    requests.push(request.headers);
    response.end("well");
  });
  server.on("clientError", (_error, socket) => socket.end("HTTP/1.1 400 Bad Request\r\n\r\n"));
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  t.after(() => server.close());
  return { port: (server.address() as AddressInfo).port, requests };
}

const pod = samplePod();
const fallbacks: string[] = [];
const run = async (port: number, scheme: string): Promise<void> => {
  fallbacks.length = 0;
  const clock = virtualClock();
  const runner = hooks({
    clock,
    runtime: fakeRuntime({ clock }),
    userAgent: "lifecycle",
    onFallback: (given, host) => fallbacks.push(`${given.metadata.name} ${host}`),
  });
  const httpHeaders = [
    { name: "X-Mine", value: "yes" },
    { name: "Authorization", value: "secret" },
  ];
  const target = { pod, container: pod.spec.containers![0]!, containerId: "c", podIp: "127.0.0.1" };
  await runner.run(
    { httpGet: { path: "/ready", port, scheme, httpHeaders } },
    target,
    new AbortController().signal,
  );
};

test("an HTTPS hook is sent over TLS with all its headers", async (t) => {
  const { certificate, key } = selfSigned({ commonName: "hook" }, ["127.0.0.1"], {
    now: Date.now(),
    days: 1,
  });
  const { port, requests } = await listening(t, createTlsServer({ cert: certificate, key }));
  await run(port, "HTTPS");
  assert.deepEqual([requests[0]?.["x-mine"], requests[0]?.authorization, fallbacks], ["yes", "secret", []]);
});

test("a hook whose server does not speak TLS is sent over plain HTTP without credentials", async (t) => {
  const { port, requests } = await listening(t, createServer());
  await run(port, "HTTPS");
  assert.deepEqual(
    [requests.length, requests[0]?.["x-mine"], requests[0]?.authorization],
    [1, "yes", undefined],
  );
  assert.deepEqual(fallbacks, [`${pod.metadata.name} 127.0.0.1:${port}`]);
});

const commands: [name: string, command: string[], expected: RegExp][] = [
  [
    "a failing command is reported with its exit code and output",
    ["sh", "-c", "echo no; exit 3"],
    /^Exec lifecycle hook \(\[sh -c echo no; exit 3\]\) for Container "c" in Pod ".*" failed - error: command 'sh -c echo no; exit 3' exited with 3: , message: "no\\n"$/,
  ],
  [
    "a missing command is reported with the runtime's error",
    ["/no/such"],
    /^Exec lifecycle hook \(\[\/no\/such\]\) for Container "c" .* failed - error: .+, message: ""$/,
  ],
];
for (const [name, command, expected] of commands) {
  test(name, async () => {
    const runtime = fakeRuntime({ clock: virtualClock(), images: ["busybox:1"] });
    const sandbox = { metadata: { name: "p", uid: "u", namespace: "n", attempt: 0 } };
    const sandboxId = await runtime.runPodSandbox(sandbox);
    const containerId = await runtime.createContainer(
      sandboxId,
      { metadata: { name: "c", attempt: 0 }, image: { image: "busybox:1" }, command: ["sleep", "100"] },
      sandbox,
    );
    await runtime.startContainer(containerId);
    const target = { pod, container: { ...pod.spec.containers![0]!, name: "c" }, containerId, podIp: "" };
    const running = hooks({ clock: virtualClock(), runtime, userAgent: "lifecycle" }).run(
      { exec: { command } },
      target,
      new AbortController().signal,
    );
    await assert.rejects(
      running,
      (error: Error) => expected.test(error.message) || assert.fail(error.message),
    );
  });
}

test("a hook with an unreachable server fails", async (t) => {
  const server = createServer();
  const { port } = await listening(t, server);
  server.close();
  await once(server, "close");
  await assert.rejects(run(port, "HTTPS"), /connection refused/);
  assert.deepEqual(fallbacks, []);
});

test("a hook of an unsupported kind is reported in Go's format", async () => {
  const clock = virtualClock();
  const runner = hooks({ clock, runtime: fakeRuntime({ clock }), userAgent: "lifecycle" });
  const target = { pod, container: pod.spec.containers![0]!, containerId: "c", podIp: "127.0.0.1" };
  const { signal } = new AbortController();
  await assert.rejects(runner.run({ tcpSocket: { port: 80 } }, target, signal), {
    message:
      "Cannot run handler: invalid handler: &LifecycleHandler{Exec:nil,HTTPGet:nil,TCPSocket:&TCPSocketAction{Port:{0 80 },Host:,},}",
  });
  await assert.rejects(
    runner.run({ tcpSocket: { port: "web", host: "h" } }, target, signal),
    /Port:\{1 0 web\},Host:h,/,
  );
});

test("a sleep hook ends after its seconds, or when it is aborted", async () => {
  const clock = virtualClock();
  const runner = hooks({ clock, runtime: fakeRuntime({ clock }), userAgent: "lifecycle" });
  const target = { pod, container: pod.spec.containers![0]!, containerId: "c", podIp: "" };
  const begin = (signal: AbortSignal): Promise<string> =>
    runner.run({ sleep: { seconds: 5 } }, target, signal).then(
      () => "done",
      () => "given up",
    );
  const given = new AbortController();
  const running = begin(new AbortController().signal);
  const stopped = begin(given.signal);
  await clock.advance(4_999);
  given.abort();
  assert.equal(await stopped, "given up");
  assert.equal(await Promise.race([running, Promise.resolve("not yet")]), "not yet");
  await clock.advance(1);
  assert.equal(await running, "done");
});

const legacyRequests: [name: string, path: string | undefined, port: number | string, expected: string][] = [
  ["a path is appended after a slash", "/ready", "web", "//ready"],
  ["no path", undefined, "web", "/"],
  ["a query", "x?a=b#c", "web", "/x?a=b"],
  ["a port as text", "x", "number", "/x"],
];
for (const [name, path, port, expected] of legacyRequests)
  test(`without ConsistentHTTPGetHandlers a hook is sent without TLS and headers: ${name}`, async (t) => {
    const server = createServer();
    const { port: number, requests } = await listening(t, server);
    const urls: (string | undefined)[] = [];
    server.on("request", ({ url }) => urls.push(url));
    const clock = virtualClock();
    const runner = hooks({ clock, runtime: fakeRuntime({ clock }), userAgent: "us", legacyHttp: true });
    const container = {
      ...pod.spec.containers![0]!,
      ports: [{ name: "web", containerPort: number, protocol: "TCP" }],
    };
    const target = { pod, container, containerId: "c", podIp: "127.0.0.1" };
    const action = {
      port: port === "number" ? String(number) : port,
      scheme: "HTTPS",
      httpHeaders: [{ name: "X-Mine", value: "yes" }],
      ...(path !== undefined && { path }),
    };
    await runner.run({ httpGet: action }, target, new AbortController().signal);
    assert.deepEqual(urls, [expected]);
    assert.deepEqual(
      [
        requests[0]?.["user-agent"],
        requests[0]?.["x-mine"],
        requests[0]?.["accept"],
        requests[0]?.["accept-encoding"],
      ],
      ["Go-http-client/1.1", undefined, undefined, "gzip"],
    );
    const wrong = { httpGet: { ...action, port: "none" } };
    await assert.rejects(
      runner.run(wrong, target, new AbortController().signal),
      /couldn't find port: none in/,
    );
  });
