// Exec, attach and port-forward: the runtime returns a URL, and bytes are forwarded both ways without
// inspecting frames.
import { type Socket, connect } from "node:net";
import { connect as connectTls } from "node:tls";
import type { Duplex } from "node:stream";
import { clientProtocol, type Dialect, runtimeProtocols } from "#dialect";
import { type Call, type Reply, plainReply } from "#http";

export interface TunnelLimits {
  /** 0 means unlimited. */
  readonly idleMilliseconds: number;
  readonly wholeMilliseconds: number;
  /** Translates stream protocol names between clients and the runtime. */
  readonly dialect?: Dialect;
}

/** Maximum lifetime of a connection, even a busy one. */
export const longestStreamMilliseconds = 4 * 3_600_000;
const connectMilliseconds = 30_000;
const maxHeadBytes = 64 * 1024;
const ownHeaders = new Set(["host", "authorization"]);

/** Forwards an upgrade request to the URL. */
export function tunnel(call: Call, address: string, limits: TunnelLimits): Reply {
  if (!call.upgradable) return plainReply(500, "Upgrade request required");
  return {
    status: 101,
    headers: {},
    body: { takeOver: (socket, head) => pass(call, new URL(address), socket, head, limits) },
  };
}

function pass(call: Call, address: URL, client: Duplex, head: Uint8Array, limits: TunnelLimits): void {
  const port = Number(address.port || (address.protocol === "https:" ? 443 : 80));
  const host = address.hostname.replace(/^\[|\]$/g, "");
  // The URL came over the runtime's own socket, so its server certificate need not be verified.
  const backend: Socket =
    address.protocol === "https:"
      ? connectTls({ host, port, rejectUnauthorized: false })
      : connect({ host, port });
  const whole = limits.wholeMilliseconds > 0 ? setTimeout(() => end(), limits.wholeMilliseconds) : undefined;
  whole?.unref();
  let isAnswered = false;
  const end = (): void => {
    clearTimeout(whole);
    client.destroy();
    backend.destroy();
  };
  const fail = (message: string): void => {
    clearTimeout(whole);
    if (!isAnswered && !client.destroyed) {
      isAnswered = true;
      const body = `${message}\n`;
      client.end(
        `HTTP/1.1 500 Internal Server Error\r\nContent-Type: text/plain; charset=utf-8\r\nX-Content-Type-Options: nosniff\r\nConnection: close\r\nContent-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`,
      );
    }
    backend.destroy();
  };
  backend.setTimeout(connectMilliseconds, () =>
    isAnswered ? end() : fail(`error dialing backend: ${address.host} does not answer`),
  );
  backend.on("error", (error) => (isAnswered ? end() : fail(`error dialing backend: ${error.message}`)));
  client.on("error", end);
  client.on("close", () => {
    clearTimeout(whole);
    backend.destroySoon();
  });
  backend.once(address.protocol === "https:" ? "secureConnect" : "connect", () => {
    backend.setNoDelay(true);
    backend.write(requestHead(call, address, limits.dialect));
    if (head.length > 0) backend.write(head);
    client.pipe(backend);
  });
  let collected = Buffer.alloc(0);
  const onData = (chunk: Buffer): void => {
    collected = Buffer.concat([collected, chunk]);
    const at = collected.indexOf("\r\n\r\n");
    if (at < 0) {
      if (collected.length > maxHeadBytes) fail("the runtime's answer has too long a head");
      return;
    }
    backend.off("data", onData);
    backend.pause();
    const status = Number(/^HTTP\/1\.\d (\d{3})/.exec(collected.toString("latin1", 0, 32))?.[1] ?? 0);
    if (status < 400 && status !== 101) {
      fail(`invalid upgrade response: status code ${status}`);
      return;
    }
    isAnswered = true;
    backend.setTimeout(limits.idleMilliseconds, end);
    client.write(answerHead(collected.toString("latin1", 0, at), call, limits.dialect));
    client.write(collected.subarray(at));
    backend.pipe(client);
  };
  backend.on("data", onData);
  backend.on("end", () => {
    if (!isAnswered) fail("the runtime closed the connection without an answer");
  });
}

const protocolHeader = "sec-websocket-protocol";

function answerHead(head: string, call: Call, dialect: Dialect | undefined): string {
  const offered = [call.headers[protocolHeader] ?? []].flat().join(",");
  if (!dialect || offered === "") return head;
  return head.replace(
    /^(sec-websocket-protocol: *)([^\r\n]+)/im,
    (_, name: string, chosen: string) => name + clientProtocol(dialect, chosen, offered),
  );
}

function requestHead(call: Call, address: URL, dialect: Dialect | undefined): string {
  const lines = [`${call.method} ${address.pathname}${address.search} HTTP/1.1`, `Host: ${address.host}`];
  for (const [name, value] of Object.entries(call.headers)) {
    if (ownHeaders.has(name) || name === "x-forwarded-for" || value === undefined) continue;
    for (const one of typeof value === "string" ? [value] : value)
      lines.push(`${name}: ${dialect && name === protocolHeader ? runtimeProtocols(dialect, one) : one}`);
  }
  const before = call.headers["x-forwarded-for"];
  lines.push(
    `X-Forwarded-For: ${[...(before === undefined ? [] : [before].flat()), call.peer.address.replace(/^::ffff:(?=\d+\.)/, "")].join(", ")}`,
  );
  return `${lines.join("\r\n")}\r\n\r\n`;
}
