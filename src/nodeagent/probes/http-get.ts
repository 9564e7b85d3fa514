// A single HTTP request to a container, for probes and hooks: without connection reuse or certificate
// verification, with truncated bodies.
import { request as requestHttps } from "node:https";
import { hostAndPort, systemClock } from "#base";
import { requestTarget } from "./request-target.ts";

// A plain import of this module would load an entire web client as well.
const { request: requestHttp } = process.getBuiltinModule("node:http");

export interface HttpGet {
  readonly scheme: "http" | "https";
  readonly host: string;
  readonly port: number;
  /** Path with query, as given in the pod spec. */
  readonly path: string;
  readonly headers: HeaderList;
}

export interface HttpResponse {
  readonly status: number;
  readonly body: string;
  readonly location?: string;
  /** Why the body could not be read to its end. Probes fail by it, hooks ignore it. */
  readonly bodyError?: string;
}

const maxBodyBytes = 10 * 1024;

/** A server expected to use TLS responded with plain HTTP. */
export class PlainHttpResponse extends Error {
  override readonly name = "PlainAnswer";
}

/** Matches the TLS errors caused by a plain HTTP response. */
const isPlain = ({ code, message }: NodeJS.ErrnoException): boolean =>
  code === "EPROTO" && /wrong version number|packet length too long/.test(message);

/** Returns the authority as written in the Host header and the URL. */
export const authorityOf = ({ host, port }: Pick<HttpGet, "host" | "port">): string =>
  hostAndPort(host, port);

export const urlOf = ({ scheme, path, ...at }: HttpGet): string =>
  `${scheme}://${authorityOf(at)}${requestTarget(path).shown}`;

/** Maps UTF-8 bytes to characters of the same number, so that they are sent unchanged. */
const asBytes = (text: string): string => Buffer.from(text, "utf8").toString("latin1");

/** Prepends a Host header unless the pod spec sets one. */
const withHost = (get: HttpGet): HeaderList =>
  get.headers[0]?.[0] === "Host" ? get.headers : [["Host", authorityOf(get)], ...get.headers];

export function httpGet(
  get: HttpGet,
  timeoutMilliseconds: number,
  signal?: AbortSignal,
): Promise<HttpResponse> {
  const url = urlOf(get);
  return new Promise((resolve, reject) => {
    /** Set once the header has arrived. */
    let stopReading: ((bodyError: string) => void) | undefined;
    const fail = (why: string): void => reject(new Error(`Get ${JSON.stringify(url)}: ${why}`));
    const sent = (get.scheme === "https" ? requestHttps : requestHttp)(
      {
        host: get.host,
        port: get.port,
        path: requestTarget(get.path).sent,
        method: "GET",
        headers: withHost(get).flatMap(([name, value]) => [name, asBytes(value)]),
        agent: false,
        rejectUnauthorized: false,
        ...(signal && { signal }),
      },
      (answer) => {
        let body = "";
        const done = (bodyError?: string): void => {
          cancel();
          resolve({
            status: answer.statusCode ?? 0,
            body,
            ...(answer.headers.location !== undefined && { location: answer.headers.location }),
            ...(bodyError !== undefined && { bodyError }),
          });
        };
        stopReading = done;
        answer.setEncoding("utf8");
        answer.on("data", (part: string) => {
          body += part;
          if (body.length < maxBodyBytes) return;
          body = body.slice(0, maxBodyBytes);
          done();
          answer.destroy();
        });
        answer.on("end", () => done());
        answer.on("error", () => done("unexpected EOF"));
      },
    );
    const cancel = systemClock.after(timeoutMilliseconds, () => {
      const late = "context deadline exceeded";
      stopReading?.(`${late} (Client.Timeout or context cancellation while reading body)`);
      fail(`${late} (Client.Timeout exceeded while awaiting headers)`);
      sent.destroy();
    });
    sent.on("error", (error: NodeJS.ErrnoException) => {
      cancel();
      stopReading?.(error.code === "ECONNRESET" ? "read: connection reset by peer" : error.message);
      if (get.scheme === "https" && isPlain(error))
        return reject(
          new PlainHttpResponse(
            `Get ${JSON.stringify(url)}: http: server gave HTTP response to HTTPS client`,
          ),
        );
      fail(
        error.code === "ECONNREFUSED"
          ? `dial tcp ${authorityOf(get)}: connect: connection refused`
          : error.message,
      );
    });
    sent.end();
  });
}

/** Headers in the order in which they are sent. */
export type HeaderList = readonly (readonly [name: string, value: string])[];

/**
 * Builds the headers of a request in the order of Go's HTTP client: Host if given, User-Agent, the others by
 * name, Connection.
 */
export function headersOf(
  given: readonly { readonly name: string; readonly value: string }[] | undefined,
  userAgent: string,
): HeaderList {
  const headers = (given ?? []).map(({ name, value }) => [canonicalName(name), value] as const);
  const own = (name: string): string | undefined => headers.find(([one]) => one === name)?.[1];
  const agent = own("User-Agent") ?? userAgent;
  const accept = own("Accept") === undefined ? [["Accept", "*/*"] as const] : [];
  const others = [...accept, ...headers]
    .filter(([name, value]) => !special.has(name) && !(name === "Accept" && value === ""))
    .toSorted(([one], [other]) => (one < other ? -1 : Number(one > other)));
  const host = own("Host");
  return [
    ...(host ? [["Host", host] as const] : []),
    ...(agent === "" ? [] : [["User-Agent", agent] as const]),
    ...others,
    ["Connection", "close"],
  ];
}

const special = new Set([
  "Host",
  "User-Agent",
  "Connection",
  "Content-Length",
  "Transfer-Encoding",
  "Trailer",
]);

/** Canonicalizes `x-custom-name` to `X-Custom-Name`; a name with invalid characters is unchanged. */
const canonicalName = (name: string): string =>
  /^[\w!#$%&'*+.^`|~-]+$/.test(name)
    ? name.replaceAll(/[^-]+/g, (part) => part[0]!.toUpperCase() + part.slice(1).toLowerCase())
    : name;
