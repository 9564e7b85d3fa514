// One HTTP request to a container, for probes and hooks: no shared connections, certificates are not checked,
// bodies are cut.
import { request as requestHttps } from "node:https";

// Imported in the ordinary way, this module brings a whole web client along.
const { request: requestHttp } = process.getBuiltinModule("node:http");

export interface HttpGet {
  readonly scheme: "http" | "https";
  readonly host: string;
  readonly port: number;
  /** With its query. */
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
}

export interface HttpAnswer {
  readonly status: number;
  readonly body: string;
  readonly location?: string;
}

const mostBody = 10 * 1024;

/** A server that was to speak TLS speaks plain HTTP. */
export class PlainAnswer extends Error {
  override readonly name = "PlainAnswer";
}

/** What the first bytes of plain HTTP look like to someone who expects a record of TLS. */
const isPlain = ({ code, message }: NodeJS.ErrnoException): boolean =>
  code === "EPROTO" && /wrong version number|packet length too long/.test(message);

export const urlOf = ({ scheme, host, port, path }: HttpGet): string =>
  `${scheme}://${host.includes(":") ? `[${host}]` : host}:${port}${path.startsWith("/") ? "" : "/"}${path}`;

export function httpGet(
  get: HttpGet,
  timeoutMilliseconds: number,
  signal?: AbortSignal,
): Promise<HttpAnswer> {
  const url = urlOf(get);
  return new Promise((resolve, reject) => {
    const fail = (why: string): void => reject(new Error(`Get ${JSON.stringify(url)}: ${why}`));
    const sent = (get.scheme === "https" ? requestHttps : requestHttp)(
      {
        host: get.host,
        port: get.port,
        path: get.path.startsWith("/") ? get.path : `/${get.path}`,
        method: "GET",
        headers: get.headers,
        agent: false,
        rejectUnauthorized: false,
        ...(signal && { signal }),
      },
      (answer) => {
        let body = "";
        const done = (): void => {
          clearTimeout(timer);
          resolve({
            status: answer.statusCode ?? 0,
            body,
            ...(answer.headers.location !== undefined && { location: answer.headers.location }),
          });
        };
        answer.setEncoding("utf8");
        answer.on("data", (part: string) => {
          body += part;
          if (body.length < mostBody) return;
          body = body.slice(0, mostBody);
          done();
          answer.destroy();
        });
        answer.on("end", done);
        answer.on("error", (error) => fail(error.message));
      },
    );
    const timer = setTimeout(() => {
      fail("context deadline exceeded (Client.Timeout exceeded while awaiting headers)");
      sent.destroy();
    }, timeoutMilliseconds);
    sent.on("error", (error: NodeJS.ErrnoException) => {
      clearTimeout(timer);
      if (get.scheme === "https" && isPlain(error))
        return reject(
          new PlainAnswer(`Get ${JSON.stringify(url)}: http: server gave HTTP response to HTTPS client`),
        );
      fail(
        error.code === "ECONNREFUSED"
          ? `dial tcp ${get.host}:${get.port}: connect: connection refused`
          : error.message,
      );
    });
    sent.end();
  });
}

/** The headers of a request as its definition and our name make them. */
export function headersOf(
  given: readonly { readonly name: string; readonly value: string }[] | undefined,
  userAgent: string,
): Record<string, string> {
  const headers = new Map<string, [string, string]>([
    ["user-agent", ["User-Agent", userAgent]],
    ["accept", ["Accept", "*/*"]],
    ["connection", ["Connection", "close"]],
  ]);
  for (const { name, value } of given ?? []) {
    if (value === "" && (name.toLowerCase() === "accept" || name.toLowerCase() === "user-agent"))
      headers.delete(name.toLowerCase());
    else headers.set(name.toLowerCase(), [name, value]);
  }
  return Object.fromEntries(headers.values());
}
