// A proxy between an agent and its container runtime that decides per call: each can be refused before it
// reaches the runtime, or after the runtime has executed it, can be delayed, can hang, and all connections
// can be cut.
import { once } from "node:events";
import { rm } from "node:fs/promises";
import {
  type ClientHttp2Session,
  type IncomingHttpHeaders,
  type ServerHttp2Session,
  type ServerHttp2Stream,
  connect,
  constants,
  createServer,
} from "node:http2";
import { connect as connectSocket } from "node:net";

/** gRPC status codes. */
export const refusals = { unknown: 2, deadlineExceeded: 4, notFound: 5, unavailable: 14 } as const;

export type RuntimeFault =
  | { readonly kind: "refuse"; readonly code: number }
  /** The runtime executes the call; its response is lost. */
  | { readonly kind: "lose"; readonly code: number }
  | { readonly kind: "delay"; readonly milliseconds: number }
  /** The runtime executes the call at once; its response is delayed. */
  | { readonly kind: "late"; readonly milliseconds: number }
  | { readonly kind: "hang" }
  /** All calls in progress lose their connection. */
  | { readonly kind: "cut" };

export interface RuntimeFaultProxy extends AsyncDisposable {
  readonly endpoint: string;
  /** Number of injected faults by call and kind. */
  readonly met: ReadonlyMap<string, number>;
  /** Decides about every call by its name, such as `RunPodSandbox`; undefined forwards it. */
  plan(decide: (call: string) => RuntimeFault | undefined): void;
  /** Stops injecting faults and ends all calls that hang. */
  calm(): void;
}

const dropped: readonly string[] = [
  "connection",
  "keep-alive",
  "transfer-encoding",
  "upgrade",
  "http2-settings",
  "host",
];

/** Listens on the socket `path` in front of the runtime's own. */
export async function runtimeFaultProxy(target: string, path: string): Promise<RuntimeFaultProxy> {
  const sessions = new Set<ServerHttp2Session>();
  const hanging = new Set<ServerHttp2Stream>();
  const met = new Map<string, number>();
  let decide: (call: string) => RuntimeFault | undefined = () => undefined;
  let far: ClientHttp2Session | undefined;
  const runtime = (): ClientHttp2Session => {
    if (!far || far.closed || far.destroyed) {
      far = connect("http://runtime", { createConnection: () => connectSocket(target) });
      far.on("error", () => undefined);
    }
    return far;
  };
  const cut = (): void => sessions.forEach((session) => session.destroy());
  const refuse = (near: ServerHttp2Stream, code: number): void => {
    if (near.destroyed || near.closed || near.headersSent) return;
    near.respond(
      {
        ":status": 200,
        "content-type": "application/grpc",
        "grpc-status": String(code),
        "grpc-message": "injected fault",
      },
      { endStream: true },
    );
  };

  async function carry(
    near: ServerHttp2Stream,
    headers: IncomingHttpHeaders,
    fault: RuntimeFault | undefined,
  ): Promise<void> {
    if (fault?.kind === "refuse") return refuse(near, fault.code);
    if (fault?.kind === "cut") return cut();
    if (fault?.kind === "hang") return void hanging.add(near);
    if (fault?.kind === "delay") await new Promise((resolve) => setTimeout(resolve, fault.milliseconds));
    if (near.destroyed) return;
    const sent = runtime().request(
      Object.fromEntries(Object.entries(headers).filter(([name]) => !dropped.includes(name))),
    );
    near.pipe(sent);
    near.on("close", () => sent.close(constants.NGHTTP2_CANCEL));
    let trailers: IncomingHttpHeaders = {};
    sent.on("error", () => refuse(near, refusals.unavailable));
    sent.on("trailers", (given: IncomingHttpHeaders) => (trailers = given));
    if (fault?.kind === "lose") {
      sent.resume();
      sent.on("end", () => refuse(near, fault.code));
      return;
    }
    const inTime = (what: () => void): unknown =>
      fault?.kind === "late" ? setTimeout(what, fault.milliseconds) : what();
    sent.on("close", () =>
      inTime(() => (near.headersSent ? near.end() : refuse(near, refusals.unavailable))),
    );
    sent.on("response", (answer, flags) =>
      inTime(() => {
        if (near.destroyed || near.closed) return;
        const isOver = (flags & constants.NGHTTP2_FLAG_END_STREAM) !== 0;
        near.respond(answer, isOver ? { endStream: true } : { waitForTrailers: true });
        if (isOver) return;
        near.on("wantTrailers", () =>
          near.sendTrailers({ "grpc-status": String(refusals.unavailable), ...trailers }),
        );
        sent.on("data", (chunk) => void (near.destroyed || near.write(chunk)));
        sent.on("end", () => near.end());
      }),
    );
  }

  const server = createServer({ settings: { maxConcurrentStreams: 1000 } });
  server.on("session", (session) => {
    sessions.add(session);
    session.on("error", () => undefined);
    session.on("close", () => sessions.delete(session));
  });
  server.on("sessionError", () => undefined);
  server.on("stream", (near: ServerHttp2Stream, headers: IncomingHttpHeaders) => {
    near.on("error", () => undefined);
    near.on("close", () => hanging.delete(near));
    const call = String(headers[":path"]).split("/").at(-1)!;
    const fault = decide(call);
    if (fault) met.set(`${call} ${fault.kind}`, (met.get(`${call} ${fault.kind}`) ?? 0) + 1);
    void carry(near, headers, fault);
  });
  await rm(path, { force: true });
  server.listen(path);
  await once(server, "listening");
  return {
    endpoint: `unix://${path}`,
    met,
    plan: (given) => void (decide = given),
    calm: () => {
      decide = () => undefined;
      for (const near of hanging) refuse(near, refusals.unavailable);
    },
    [Symbol.asyncDispose]: async () => {
      server.close();
      cut();
      far?.destroy();
    },
  };
}
