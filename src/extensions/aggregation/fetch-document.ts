// Fetches a document from an aggregated server on behalf of this server.
import type { APIService } from "#api";
import { hostAndPort, serviceUnavailable } from "#base";
import { requestUpstream } from "#virtual";
import { type ClientPair, backendOf } from "./backend.ts";
import type { AggregationObserver } from "./observer.ts";
import type { ResolveService } from "./resolve-service.ts";

const fetchTimeoutMilliseconds = 5000;

export interface BackendAccess {
  readonly resolve: ResolveService;
  readonly pair: ClientPair;
  readonly observer?: Pick<AggregationObserver, "failed"> | undefined;
}

export interface Fetched {
  readonly address: string;
  readonly status: number;
  readonly contentType: string;
  readonly text: string;
  /** Whether the body was incomplete; `text` is then empty. */
  readonly brokenOff: boolean;
}

/** Fetches a document. Throws if the server cannot be reached or the body exceeds `maxBytes`. */
export async function fetchDocument(
  service: APIService,
  document: {
    readonly path: string;
    readonly maxBytes: number;
    readonly headers?: Readonly<Record<string, string>>;
    /** Accepts a response whose body is incomplete. */
    readonly anyBody?: boolean;
  },
  { resolve, pair, observer }: BackendAccess,
  signal: AbortSignal,
): Promise<Fetched> {
  const { host, port, tls, dial } = await backendOf(service, resolve, pair);
  const authority = hostAndPort(host, port);
  const address = `https://${authority}${document.path}`;
  try {
    const message = await requestUpstream(
      {
        scheme: "https",
        host,
        port,
        path: document.path,
        method: "GET",
        headers: { host: authority, ...document.headers },
        tls,
        dial,
        timeoutMilliseconds: fetchTimeoutMilliseconds,
        unreachable: (reason) => serviceUnavailable(`Get ${JSON.stringify(address)}: ${reason}`),
      },
      AbortSignal.any([signal, AbortSignal.timeout(fetchTimeoutMilliseconds)]),
    );
    const text = await bodyOf(message, document.maxBytes).catch((error: unknown) => {
      if (document.anyBody) return undefined;
      throw error;
    });
    return {
      address,
      status: message.statusCode ?? 0,
      contentType: message.headers["content-type"] ?? "",
      text: text ?? "",
      brokenOff: text === undefined,
    };
  } catch (error) {
    observer?.failed?.(error);
    throw new UnreachableBackend(address, error as Error);
  }
}

async function bodyOf(message: AsyncIterable<Buffer>, maxBytes: number): Promise<string> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of message) {
    size += chunk.length;
    if (size > maxBytes) throw new Error("the answer is too large");
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString();
}

export class UnreachableBackend extends Error {
  override readonly name = "UnreachableBackend";
  readonly address: string;
  constructor(address: string, cause: Error) {
    super(cause.message);
    this.address = address;
  }
}
