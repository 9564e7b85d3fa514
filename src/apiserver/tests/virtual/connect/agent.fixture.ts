// A fake node agent that records requests, for tests of connections.
import { once } from "node:events";
import type { IncomingMessage, ServerResponse } from "node:http";
import { createServer } from "node:https";
import type { AddressInfo } from "node:net";
import type { Duplex } from "node:stream";
import { selfSigned } from "#authn";

export interface FakeAgent extends AsyncDisposable {
  readonly port: number;
  /** Serving certificate that clients must trust. */
  readonly certificate: string;
  /** Received requests as `GET /path`, in order. */
  readonly requests: string[];
  readonly headers: IncomingMessage["headers"][];
}

export interface FakeAgentOptions {
  answer?(request: IncomingMessage, response: ServerResponse): void;
  /** Receives the connection of an upgrade request before any response. */
  upgrade?(request: IncomingMessage, socket: Duplex, head: Buffer): void;
}

export async function fakeAgent(options: FakeAgentOptions): Promise<FakeAgent> {
  const { certificate, key } = selfSigned({ commonName: "agent" }, ["127.0.0.1"], {
    now: Date.now(),
    days: 1,
  });
  const requests: string[] = [];
  const headers: IncomingMessage["headers"][] = [];
  const open = new Set<Duplex>();
  const server = createServer({ cert: certificate, key });
  const note = (request: IncomingMessage): void => {
    requests.push(`${request.method} ${request.url}`);
    headers.push(request.headers);
  };
  server.on("connection", (socket) => open.add(socket));
  server.on("request", (request, response) => {
    note(request);
    options.answer?.(request, response);
  });
  server.on("upgrade", (request, socket, head) => {
    note(request);
    options.upgrade?.(request, socket, head);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    port: (server.address() as AddressInfo).port,
    certificate,
    requests,
    headers,
    [Symbol.asyncDispose]: async () => {
      for (const socket of open) socket.destroy();
      server.close();
      await once(server, "close");
    },
  };
}
