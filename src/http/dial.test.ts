import assert from "node:assert/strict";
import { createServer as createHttp, get } from "node:http";
import { type AddressInfo, type Server, type Socket, connect, createServer } from "node:net";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { type ConnectProxy, createConnectionWith, dialThrough } from "./dial.ts";

async function listening(server: Server, at: { path?: string } = {}): Promise<number> {
  await new Promise<void>((resolve) =>
    server.listen(at.path ? { path: at.path } : { host: "127.0.0.1", port: 0 }, resolve),
  );
  return at.path ? 0 : (server.address() as AddressInfo).port;
}

/** A proxy that answers CONNECT with the given text, and forwards bytes if that is a 200. */
function proxyAnswering(
  answer: string,
  requests: string[],
): { server: Server; close: () => Promise<unknown> } {
  const sockets = new Set<Socket>();
  const server = createServer((client) => {
    sockets.add(client);
    client.on("error", () => undefined);
    client.once("data", (head: Buffer) => {
      const [line = ""] = head.toString().split("\r\n", 1);
      requests.push(line);
      client.write(answer);
      const onward = connect({ host: "127.0.0.1", port: Number(/:(\d+) /.exec(line)?.[1]) });
      sockets.add(onward);
      onward.on("error", () => undefined);
      client.pipe(onward).pipe(client);
    });
  });
  return {
    server,
    close: () => {
      for (const socket of sockets) socket.destroy();
      return new Promise((resolve) => server.close(resolve));
    },
  };
}

const ok = "HTTP/1.1 200 Connection established\r\nX-Proxy: yes\r\n\r\n";

const transports: [name: string, at: (folder: string) => { path?: string }][] = [
  ["TCP", () => ({})],
  ["a Unix socket", (folder) => ({ path: join(folder, "proxy.sock") })],
];
for (const [name, at] of transports)
  test(`a request goes through a proxy over ${name}`, async (t) => {
    const folder = mkdtempSync(join(tmpdir(), "dial-"));
    t.after(() => rmSync(folder, { recursive: true }));
    const backend = createHttp((request, response) => response.end(`hello ${request.headers.host}`));
    const backendPort = await listening(backend);
    const requests: string[] = [];
    const { server, close } = proxyAnswering(ok, requests);
    const where = at(folder);
    const port = await listening(server, where);
    const proxy: ConnectProxy = where.path ? { path: where.path } : { host: "127.0.0.1", port };
    const text = await new Promise<string>((resolve, reject) => {
      get(
        {
          host: "backend.test",
          port: backendPort,
          createConnection: createConnectionWith(dialThrough(proxy)),
        },
        (answer) => {
          answer.setEncoding("utf8");
          answer.on("data", resolve);
        },
      ).on("error", reject);
    });
    assert.equal(text, `hello backend.test:${backendPort}`);
    assert.deepEqual(requests, [`CONNECT backend.test:${backendPort} HTTP/1.1`]);
    backend.closeAllConnections();
    await Promise.all([close(), new Promise((resolve) => backend.close(resolve))]);
  });

const refusals: [name: string, answer: string, why: RegExp][] = [
  ["refuses", "HTTP/1.1 403 Forbidden\r\n\r\n", /dialing \[::1\]:7: the proxy answered "HTTP\/1.1 403 Forb/],
  ["speaks something else", "SSH-2.0-x\r\n\r\n", /the proxy answered "SSH-2.0-x"/],
  ["closes the connection", "HTTP/1.1 200 OK\r\n", /the proxy closed the connection/],
  ["sends data of the target", `${"HTTP/1.1 200 OK\r\n\r\n"}early`, /bytes before the client did/],
  ["never ends its answer", `HTTP/1.1 200 OK\r\n${"x".repeat(17_000)}`, /has no end/],
];
for (const [name, answer, why] of refusals)
  test(`a proxy that ${name} is an error that names both ends`, async () => {
    const server = createServer((client) => {
      client.on("error", () => undefined);
      client.once("data", () => client.end(answer));
    });
    const port = await listening(server);
    await assert.rejects(dialThrough({ host: "127.0.0.1", port })({ host: "::1", port: 7 }), why);
    await new Promise((resolve) => server.close(resolve));
  });

test("an unreachable proxy is an error", async () => {
  const { server, close } = proxyAnswering(ok, []);
  const port = await listening(server);
  await close();
  await assert.rejects(dialThrough({ host: "127.0.0.1", port })({ host: "x", port: 1 }), /ECONNREFUSED/);
});

test("the observer receives the start and outcome of connections through a proxy", async () => {
  const reported: string[] = [];
  const observer = {
    started: () => void reported.push("started"),
    opened: () => void reported.push("opened"),
    failed: (stage: string) => void reported.push(`failed: ${stage}`),
  };
  for (const answer of [ok, "HTTP/1.1 403 Forbidden\r\n\r\n"]) {
    const { server, close } = proxyAnswering(answer, []);
    const port = await listening(server);
    const dial = dialThrough({ host: "127.0.0.1", port }, observer);
    await dial({ host: "127.0.0.1", port }).then(
      (socket) => socket.on("error", () => undefined).destroy(),
      () => undefined,
    );
    await close();
    if (answer === ok) await assert.rejects(dial({ host: "x", port: 1 }));
  }
  assert.deepEqual(reported, ["started", "opened", "started", "failed: connect", "started", "failed: proxy"]);
});
