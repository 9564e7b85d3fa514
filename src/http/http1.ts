// HTTP/1.1 on accepted sockets: requests, upgrades, and responses to malformed requests.
import type { IncomingMessage, Server, ServerResponse as Response } from "node:http";
import type { Socket } from "node:net";
import type { Duplex } from "node:stream";
import type { TLSSocket } from "node:tls";
import type { Call, Reply } from "./call.ts";
import { discardReply } from "./discard-reply.ts";
import { callFromHttp1, replyOnHttp1 } from "./exchange.ts";
import { RequestsInTurn } from "./in-turn.ts";
import { peerOf } from "./peer.ts";
import type { AdmissionThrottle } from "./admission-throttle.ts";
import { type ParserError, requestOfUnknownMethod } from "./unknown-method.ts";

// A plain import of this module also loads Node's fetch client, which is not used here: 15 MB.
const { ServerResponse, createServer } = process.getBuiltinModule("node:http");

export interface Http1Options {
  /** Handles every call; must not throw. */
  readonly handle: (call: Call) => Promise<Reply>;
  readonly now: () => number;
  /** Maximum time to receive the headers of a request. */
  readonly headersTimeoutMilliseconds?: number;
  /** Maximum time the end of a response waits for a client that does not read it. */
  readonly stalledMilliseconds?: number;
}

export const maxHeaderBytes = 64 * 1024;
/** The request target has a higher limit than the headers: selectors can contain thousands of values. */
export const maxTargetBytes = 1024 * 1024;
/**
 * The limit announced to HTTP/2 clients, for headers and target: 1 MiB plus the overhead of ten fields, as in
 * kube-apiserver.
 */
export const announcedHeaderBytes = 1024 * 1024 + 10 * 32;
/** Default limit of concurrent streams per HTTP/2 connection. */
export const defaultMaxStreams = 100;
export const headersMilliseconds = 32_000;
/** This is long because progress within one large write is not visible here. */
const stalledMilliseconds = 600_000;
/** Maximum time to receive the rest of a request after its response was sent. */
const lateBodyMilliseconds = 5_000;

export function http1Engine(
  options: Http1Options,
  throttle: AdmissionThrottle,
  draining = (): boolean => false,
): Server {
  const headersTimeout = options.headersTimeoutMilliseconds ?? headersMilliseconds;
  const server = createServer({
    maxHeaderSize: maxHeaderBytes + maxTargetBytes,
    headersTimeout,
    connectionsCheckingInterval: Math.min(headersTimeout, 30_000),
    requestTimeout: 0,
    keepAliveTimeout: 180_000,
    // Upgrade headers of a request with a body are ignored.
    shouldUpgradeCallback: (request) => !sendsBody(request),
  });

  const serve = (request: IncomingMessage, response: Response, expectsContinue: boolean): void => {
    response.on("error", () => undefined);
    const problem = requestProblem(request);
    if (problem) return refuse(response, problem);
    let awaitsContinue = expectsContinue;
    const sendContinue = (): void => {
      if (awaitsContinue) response.writeContinue();
      awaitsContinue = false;
    };
    const call = callFromHttp1(request, peerOf(request.socket as TLSSocket), options.now(), {
      response,
      sendContinue,
    });
    response.on("finish", () => limitLateBody(request));
    const run = async (): Promise<void> => {
      const reply = await options.handle(call);
      // A client that did not receive 100 Continue may send its body or not, so the start of its next request
      // would be ambiguous.
      if (awaitsContinue || draining()) response.shouldKeepAlive = false;
      await replyOnHttp1(response, call.method, reply);
      if (response.writableFinished) return;
      request.socket.setTimeout(options.stalledMilliseconds ?? stalledMilliseconds);
      // This listener must run first: a later one sets the idle timeout of a connection that is kept alive.
      response.prependOnceListener("finish", () => request.socket.setTimeout(0));
    };
    throttle.begin(() => void run().catch(() => response.destroy()), call.method, call.path);
  };

  const inTurn = new RequestsInTurn();
  const serveInTurn = (request: IncomingMessage, response: Response, expectsContinue = false): void =>
    inTurn.handle(request.socket, response, () => serve(request, response, expectsContinue));
  server.on("request", serveInTurn);
  server.on("checkContinue", (request, response) => serveInTurn(request, response, true));
  server.on("upgrade", (request, socket: Duplex, head: Buffer) => {
    socket.on("error", () => socket.destroy());
    // The responses to earlier requests would get between the bytes of the new protocol.
    if (inTurn.isBusy(request.socket)) return void socket.destroy();
    const problem = requestProblem(request);
    if (problem) return void socket.end(closingResponse(problem));
    serveLast(request, socket, head);
  });
  /** Handles a request after which the connection has no parser any more. */
  const serveLast = (request: IncomingMessage, socket: Duplex, head?: Buffer): void => {
    const call = callFromHttp1(request, peerOf(request.socket as TLSSocket), options.now(), {
      upgradable: head !== undefined,
    });
    void options
      .handle(call)
      .then((reply) => {
        if (head && reply.body && "takeOver" in reply.body) {
          reply.beforeSending?.();
          reply.body.takeOver(socket, head);
          return;
        }
        // The response would not notice that the connection is closed.
        if (socket.destroyed) return discardReply(reply);
        const response = new ServerResponse(request);
        response.assignSocket(socket as Socket);
        response.shouldKeepAlive = false;
        response.on("finish", () => socket.end());
        return replyOnHttp1(response, call.method, reply);
      })
      .catch(() => socket.destroy());
  };
  server.on("clientError", (error: ParserError, socket) => {
    if (!socket.writable) return;
    const request = inTurn.isBusy(socket as Socket)
      ? undefined
      : requestOfUnknownMethod(error, socket as Socket);
    if (request && !requestProblem(request)) return serveLast(request, socket);
    socket.end(closingResponse(clientErrors[error.code ?? ""] ?? "400 Bad Request"));
  });
  return server;
}

const clientErrors: Readonly<Record<string, string>> = {
  HPE_HEADER_OVERFLOW: "431 Request Header Fields Too Large",
  ERR_HTTP_REQUEST_TIMEOUT: "408 Request Timeout",
};

const closingResponse = (status: string): string =>
  `HTTP/1.1 ${status}\r\nConnection: close\r\nContent-Type: text/plain; charset=utf-8\r\n\r\n${status}`;

const sendsBody = ({ headers }: IncomingMessage): boolean =>
  headers["transfer-encoding"] !== undefined || Number(headers["content-length"] ?? 0) > 0;

/** Returns the error response to a request that the parser accepts but that is invalid. */
function requestProblem({ httpVersionMajor, rawHeaders, url = "" }: IncomingMessage): string | undefined {
  if (httpVersionMajor !== 1)
    return httpVersionMajor === 0 ? "400 Bad Request" : "505 HTTP Version Not Supported";
  let hosts = 0;
  let bytes = 0;
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const name = rawHeaders[at]!;
    bytes += name.length + rawHeaders[at + 1]!.length + 4;
    if (name.length === 4 && name.toLowerCase() === "host") hosts++;
  }
  if (bytes > maxHeaderBytes || url.length > maxTargetBytes) return clientErrors["HPE_HEADER_OVERFLOW"];
  return hosts > 1 ? "400 Bad Request" : undefined;
}

function refuse(response: Response, status: string): void {
  response.shouldKeepAlive = false;
  response.writeHead(Number.parseInt(status, 10), { "content-type": "text/plain; charset=utf-8" });
  response.end(status);
}

/**
 * Lets a client finish a request that was answered early, so that it can read the response; the connection is
 * closed if that takes too long.
 */
function limitLateBody(request: IncomingMessage): void {
  if (request.complete) return;
  const timer = setTimeout(() => request.socket.destroy(), lateBodyMilliseconds).unref();
  request.once("close", () => clearTimeout(timer));
}
