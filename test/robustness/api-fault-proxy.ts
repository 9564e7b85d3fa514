// A proxy between an agent and the API server that decides per request. It authenticates with the agent's own
// certificate. Requests can be refused, reset, delayed or left without response, before or after the server
// has acted; watches can be slow, break off in the middle of a frame, or fail because their resource version
// has expired; and a partition can block all traffic for a while.
import { once } from "node:events";
import {
  type ClientHttp2Session,
  type IncomingHttpHeaders,
  type ServerHttp2Session,
  type ServerHttp2Stream,
  connect,
  constants,
  createSecureServer,
} from "node:http2";
import type { AddressInfo } from "node:net";

export type ApiFault =
  /** Answers with a status without contacting the server; 429 and 503 carry Retry-After. */
  | { readonly kind: "refuse"; readonly status: number; readonly retryAfterSeconds?: number }
  | { readonly kind: "reset" }
  /** The server executes the request; its response is lost. */
  | { readonly kind: "lose" }
  | { readonly kind: "delay"; readonly milliseconds: number }
  | { readonly kind: "hang" }
  | { readonly kind: "cut" }
  /** The watch ends after this many milliseconds, and the next one fails with an expired resource version. */
  | { readonly kind: "expire"; readonly milliseconds: number }
  /** The response breaks off in the middle. */
  | { readonly kind: "halve" }
  /** Every chunk of the response is delayed by this much. */
  | { readonly kind: "slow"; readonly milliseconds: number };

export interface ApiRequest {
  readonly method: string;
  readonly path: string;
  readonly isWatch: boolean;
}

export interface ApiFaultProxy extends AsyncDisposable {
  readonly url: string;
  readonly met: ReadonlyMap<string, number>;
  plan(decide: (request: ApiRequest) => ApiFault | undefined): void;
  /** Blocks all traffic from now on: requests are never answered, or connections are refused. */
  part(how: "silent" | "refused"): void;
  /** Ends all faults and partitions. */
  calm(): void;
}

export interface ApiFaultProxyOptions {
  /** The server's URL and certificate authority. */
  readonly target: { readonly url: string; readonly ca: string };
  /** The agent's certificate, presented to the server. */
  readonly agent: { readonly cert: string; readonly key: string };
  /** The proxy's own certificate, presented to the agent. */
  readonly serving: { readonly cert: string; readonly key: string };
}

export async function apiFaultProxy({
  target,
  agent,
  serving,
}: ApiFaultProxyOptions): Promise<ApiFaultProxy> {
  const sessions = new Set<ServerHttp2Session>();
  const open = new Set<ServerHttp2Stream>();
  const met = new Map<string, number>();
  let decide: (request: ApiRequest) => ApiFault | undefined = () => undefined;
  let parted: "silent" | "refused" | undefined;
  let far: ClientHttp2Session | undefined;
  const apiserver = (): ClientHttp2Session => {
    if (!far || far.closed || far.destroyed) {
      const made = connect(target.url, { ca: target.ca, ...agent, settings: { initialWindowSize: 4 << 20 } });
      made.on("error", () => undefined);
      made.on("goaway", () => made.close());
      far = made;
    }
    return far;
  };
  const cut = (): void => sessions.forEach((session) => session.destroy());
  const reset = (near: ServerHttp2Stream): void =>
    void (near.destroyed || near.close(constants.NGHTTP2_INTERNAL_ERROR));
  const refuse = (near: ServerHttp2Stream, code: number, retryAfterSeconds?: number): void => {
    if (near.destroyed || near.closed || near.headersSent) return;
    near.respond({
      ":status": code,
      "content-type": "application/json",
      ...(retryAfterSeconds !== undefined && { "retry-after": String(retryAfterSeconds) }),
    });
    near.end(
      JSON.stringify({
        kind: "Status",
        apiVersion: "v1",
        metadata: {},
        status: "Failure",
        message: "injected fault",
        ...(code === 410 && { reason: "Expired" }),
        code,
      }),
    );
  };
  const forgotten = new Set<string>();

  async function carry(
    near: ServerHttp2Stream,
    headers: IncomingHttpHeaders,
    fault: ApiFault | undefined,
  ): Promise<void> {
    if (fault?.kind === "refuse") return refuse(near, fault.status, fault.retryAfterSeconds);
    if (forgotten.delete(placeOf(headers))) return refuse(near, 410);
    if (fault?.kind === "reset") return reset(near);
    if (fault?.kind === "cut") return cut();
    if (fault?.kind === "hang" || parted) return;
    if (fault?.kind === "delay") await new Promise((resolve) => setTimeout(resolve, fault.milliseconds));
    if (near.destroyed) return;
    const sent = apiserver().request(
      { ...headers, ":authority": new URL(target.url).host },
      { endStream: false },
    );
    near.pipe(sent);
    near.on("close", () => sent.close(constants.NGHTTP2_CANCEL));
    sent.on("error", () => reset(near));
    if (fault?.kind === "lose") {
      sent.resume();
      sent.on("end", () => reset(near));
      return;
    }
    sent.on("response", (answer) => {
      if (near.destroyed || near.closed || parted) return;
      near.respond(answer);
      if (fault?.kind === "expire") {
        setTimeout(() => {
          forgotten.add(placeOf(headers));
          if (!near.destroyed) near.end();
        }, fault.milliseconds);
      }
      const pass = (chunk: Buffer): void => {
        if (near.destroyed || near.writableEnded || parted) return;
        if (fault?.kind !== "halve") return void near.write(chunk);
        near.write(chunk.subarray(0, chunk.length >> 1), () => reset(near));
      };
      const later = (what: () => void): unknown =>
        fault?.kind === "slow" ? setTimeout(what, fault.milliseconds) : what();
      sent.on("data", (chunk: Buffer) => later(() => pass(chunk)));
      sent.on("end", () => later(() => void (near.destroyed || near.writableEnded || parted || near.end())));
    });
  }

  const server = createSecureServer({ ...serving });
  server.on("session", (session) => {
    sessions.add(session);
    session.on("error", () => undefined);
    session.on("close", () => sessions.delete(session));
    if (parted === "refused") session.destroy();
  });
  server.on("sessionError", () => undefined);
  server.on("stream", (near: ServerHttp2Stream, headers: IncomingHttpHeaders) => {
    open.add(near);
    near.on("error", () => undefined);
    near.on("close", () => open.delete(near));
    const path = String(headers[":path"]);
    const request = { method: String(headers[":method"]), path, isWatch: /[?&]watch=(1|true)/.test(path) };
    const fault = decide(request);
    const what = `${request.isWatch ? "WATCH" : request.method} ${fault?.kind}`;
    if (fault) met.set(what, (met.get(what) ?? 0) + 1);
    void carry(near, headers, fault);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    url: `https://127.0.0.1:${(server.address() as AddressInfo).port}`,
    met,
    plan: (given) => void (decide = given),
    part: (how) => {
      parted = how;
      if (how === "refused") cut();
    },
    calm: () => {
      decide = () => undefined;
      if (parted) cut();
      parted = undefined;
      for (const near of open) if (!near.headersSent) reset(near);
    },
    [Symbol.asyncDispose]: async () => {
      server.close();
      cut();
      far?.destroy();
    },
  };
}

/** Returns what a request watches: its path without resource version and timeout. */
const placeOf = (headers: IncomingHttpHeaders): string =>
  String(headers[":path"]).replace(/[?&](resourceVersion|timeoutSeconds)=[^&]*/g, "");
