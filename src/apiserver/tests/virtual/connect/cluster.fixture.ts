// A server with pods on a node, for tests of connections to node agents.
import assert from "node:assert/strict";
import { once } from "node:events";
import { connect } from "node:tls";
import { type RunningServer, startServer } from "../../../library.ts";
import type { FakeAgent } from "./agent.fixture.ts";

/**
 * Starts a server with the pods `web` (one container) and `two` (two containers) on a node with the fake
 * agent, and the pod `waits` on no node.
 */
export async function cluster(agent: FakeAgent, port?: number): Promise<RunningServer> {
  const server = await startServer({ store: "memory", ...(port !== undefined && { port }) });
  const post = async (path: string, body: object): Promise<void> => {
    const answer = await server.inject({ method: "POST", path, body: JSON.stringify(body) });
    assert.equal(answer.status, 201, await answer.text());
  };
  await post("/api/v1/namespaces/default/serviceaccounts", { metadata: { name: "default" } });
  await post("/api/v1/nodes", {
    metadata: { name: "n1" },
    status: {
      addresses: [{ type: "InternalIP", address: "127.0.0.1" }],
      daemonEndpoints: { nodeagentEndpoint: { Port: agent.port } },
    },
  });
  const container = (name: string) => ({ name, image: "img" });
  await post("/api/v1/namespaces/default/pods", {
    metadata: { name: "web" },
    spec: { nodeName: "n1", containers: [container("c")] },
  });
  await post("/api/v1/namespaces/default/pods", {
    metadata: { name: "two" },
    spec: { nodeName: "n1", containers: [container("a"), container("b")] },
  });
  await post("/api/v1/namespaces/default/pods", {
    metadata: { name: "waits" },
    spec: { containers: [container("c")] },
  });
  await post("/api/v1/namespaces/default/pods", {
    metadata: { name: "lost" },
    spec: { nodeName: "gone", containers: [container("c")] },
  });
  return server;
}

/** Sends an upgrade request over a separate socket; resolves with all received bytes at its end. */
export async function upgraded(
  server: RunningServer,
  path: string,
  headers: readonly string[],
  say: string,
): Promise<string> {
  const { port, hostname } = new URL(server.url);
  const user = server.clientConfig.users?.[0]?.user as { token: string };
  const socket = connect({
    host: hostname,
    port: Number(port),
    rejectUnauthorized: false,
    ALPNProtocols: ["http/1.1"],
  });
  await once(socket, "secureConnect");
  socket.write(
    `POST ${path} HTTP/1.1\r\nHost: api\r\nAuthorization: Bearer ${user.token}\r\nConnection: Upgrade\r\nUpgrade: SPDY/3.1\r\n${headers.map((line) => `${line}\r\n`).join("")}\r\n`,
  );
  let text = "";
  socket.setEncoding("latin1");
  socket.on("data", (chunk: string) => {
    const began = text.includes("\r\n\r\n");
    text += chunk;
    if (!began && text.includes("\r\n\r\n") && say) socket.end(say);
  });
  await once(socket, "end");
  socket.destroy();
  return text;
}
