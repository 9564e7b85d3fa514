// Outgoing TCP connections through a proxy by HTTP CONNECT (RFC 9110 §9.3.6), over TCP, TLS or a Unix socket.
// Without a proxy, the clients connect directly.
import type { RequestOptions } from "node:http";
import { type Socket, connect, isIP } from "node:net";
import { type ConnectionOptions, connect as connectTls } from "node:tls";
import { checkServerIdentity } from "./server-identity.ts";

export interface DialAddress {
  readonly host: string;
  readonly port: number;
}

/** Opens a connection that carries bytes to the address; the caller handles its errors. */
export type Dial = (address: DialAddress) => Promise<Socket>;

export type ConnectProxy =
  | { readonly path: string }
  /** Called for every connection, so that certificates may be replaced. */
  | (DialAddress & { readonly tls?: () => ConnectionOptions });

/** Receives events of every connection through a proxy. */
export interface DialObserver {
  started(): void;
  opened(seconds: number): void;
  /** The proxy could not be reached, or did not connect to the target. */
  failed(stage: "connect" | "proxy"): void;
}

const dialMilliseconds = 30_000;
const maxHeadBytes = 16 * 1024;

export function dialThrough(proxy: ConnectProxy, observer?: DialObserver): Dial {
  const name = "path" in proxy ? proxy.path : `${proxy.host}:${proxy.port}`;
  return ({ host, port }) =>
    new Promise((resolve, reject) => {
      const target = `${isIP(host) === 6 ? `[${host}]` : host}:${port}`;
      const socket = socketTo(proxy);
      const secure = "tls" in proxy && proxy.tls !== undefined;
      const began = performance.now();
      observer?.started();
      let stage: "connect" | "proxy" = "connect";
      let head = Buffer.alloc(0);
      const settle = (error?: Error): void => {
        clearTimeout(timer);
        socket.off("error", settle);
        socket.off("end", ended);
        socket.off("readable", read);
        if (!error) {
          observer?.opened((performance.now() - began) / 1000);
          return resolve(socket);
        }
        observer?.failed(stage);
        socket.on("error", () => undefined);
        socket.destroy();
        reject(new Error(`proxy ${name}, dialing ${target}: ${error.message}`, { cause: error }));
      };
      const ended = (): void => settle(new Error("the proxy closed the connection"));
      const read = (): void => {
        for (let chunk: Buffer | null; (chunk = socket.read() as Buffer | null) !== null;) {
          head = Buffer.concat([head, chunk]);
          if (head.length > maxHeadBytes) return settle(new Error("the proxy's answer has no end"));
        }
        const end = head.indexOf("\r\n\r\n");
        if (end >= 0) settle(responseError(head, end));
      };
      const timer = setTimeout(
        () => settle(new Error(`no connection within ${dialMilliseconds} ms`)),
        dialMilliseconds,
      );
      socket.on("error", settle);
      socket.on("end", ended);
      socket.once(secure ? "secureConnect" : "connect", () => {
        stage = "proxy";
        socket.on("readable", read);
        socket.write(`CONNECT ${target} HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n`);
      });
    });
}

function socketTo(proxy: ConnectProxy): Socket {
  if ("path" in proxy) return connect({ path: proxy.path });
  const { host, port, tls } = proxy;
  if (!tls) return connect({ host, port });
  return connectTls({
    ...(isIP(host) === 0 && { servername: host }),
    checkServerIdentity,
    ...tls(),
    host,
    port,
  });
}

/**
 * Returns the error in the response to CONNECT. The target must not send anything before the client does, so
 * nothing may follow the response.
 */
function responseError(answer: Buffer, end: number): Error | undefined {
  const [line = ""] = answer.toString("latin1", 0, end).split("\r\n", 1);
  const status = /^HTTP\/1\.[01] (\d{3})/.exec(line)?.[1];
  if (status !== "200") return new Error(`the proxy answered ${JSON.stringify(line.slice(0, 100))}`);
  return answer.length > end + 4 ? new Error("the proxy sent bytes before the client did") : undefined;
}

type CreateConnection = NonNullable<RequestOptions["createConnection"]>;

/**
 * Returns a `createConnection` function for requests and agents of node:http or, with TLS options, of
 * node:https.
 */
export const createConnectionWith =
  (dial: Dial, tls?: (options: ConnectionOptions) => ConnectionOptions): CreateConnection =>
  (options, created) => {
    const { host, port } = options as { host: string; port: number | string };
    void dial({ host, port: Number(port) }).then(
      (socket) =>
        created(
          null,
          tls
            ? connectTls({
                ...(isIP(host) === 0 && { servername: host }),
                checkServerIdentity,
                ...tls(options as ConnectionOptions),
                socket,
              })
            : socket,
        ),
      (error: Error) => (created as (error: Error) => void)(error),
    );
    return undefined;
  };
