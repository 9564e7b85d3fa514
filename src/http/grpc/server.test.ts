import assert from "node:assert/strict";
import { once } from "node:events";
import { mkdtempSync, rmSync, statSync, writeFileSync } from "node:fs";
import { type IncomingHttpHeaders, connect as connectHttp2 } from "node:http2";
import { connect, createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { flag, frame } from "../http2/frames.ts";
import { hello, literal, made } from "../http2/raw-client.fixture.ts";
import { type GrpcChannel, grpcChannel } from "./channel.ts";
import { framed } from "./frames.ts";
import { type GrpcProcedure, grpcServer, streamingProcedure, unaryProcedure } from "./server.ts";
import { GrpcError } from "./status.ts";

const folder = mkdtempSync(join(tmpdir(), "orch-grpc-"));
after(() => rmSync(folder, { recursive: true }));
let count = 0;
const freshPath = (): string => join(folder, `s${count++}`, "a.sock");

const text = (path: string) => ({
  path,
  encode: (message: string): Uint8Array => Buffer.from(message),
  decode: (bytes: Uint8Array): string => Buffer.from(bytes).toString(),
});
const echo = text("/test.Echo/Say");
const procedures: readonly GrpcProcedure[] = [
  unaryProcedure(echo, (words) => words.toUpperCase()),
  unaryProcedure(text("/test.Echo/Fail"), () => {
    throw new GrpcError("NOT_FOUND", "no ünit at 100%");
  }),
  unaryProcedure(text("/test.Echo/Throw"), () => {
    throw new Error("out of luck");
  }),
  streamingProcedure(text("/test.Echo/Count"), async function* (words) {
    for (let at = 1; at <= Number(words); at++) yield String(at);
  }),
  unaryProcedure(
    text("/test.Echo/Wait"),
    (_, { signal }) =>
      new Promise<string>((_resolve, reject) =>
        signal.addEventListener("abort", () => reject(signal.reason as Error), { once: true }),
      ),
  ),
];

async function withServer(
  run: (channel: GrpcChannel, path: string) => Promise<void>,
  maxMessageBytes = 1024,
): Promise<void> {
  const socketPath = freshPath();
  const server = await grpcServer({ socketPath, procedures, maxMessageBytes });
  const channel = grpcChannel({ endpoints: [`unix://${socketPath}`] });
  try {
    await run(channel, socketPath);
  } finally {
    channel.close();
    await server.close();
  }
}

test("a call with one request gets one response", () =>
  withServer(async (channel, path) => {
    assert.equal(await channel.unary(echo, "hello"), "HELLO");
    assert.equal(statSync(path).mode & 0o777, 0o600);
  }));

const failures: [name: string, path: string, request: string, code: string, detail: string][] = [
  ["an error with a code", "/test.Echo/Fail", "", "NOT_FOUND", "no ünit at 100%"],
  ["any other error", "/test.Echo/Throw", "", "UNKNOWN", "out of luck"],
  [
    "a procedure that is not declared",
    "/test.Echo/Nope",
    "",
    "UNIMPLEMENTED",
    "unknown method /test.Echo/Nope",
  ],
  [
    "a request over the limit",
    "/test.Echo/Say",
    "x".repeat(2000),
    "RESOURCE_EXHAUSTED",
    "grpc: received message larger than max (2000 vs. 1024)",
  ],
];
for (const [name, path, request, code, detail] of failures) {
  test(`${name} reaches the client as its status`, () =>
    withServer(async (channel) => {
      await assert.rejects(channel.unary(text(path), request), (error: GrpcError) => {
        assert.deepEqual([error.code, error.detail], [code, detail]);
        return true;
      });
    }));
}

test("a client that names the socket's path as the authority is served", () =>
  withServer(async (_, path) => {
    const socket = connect({ path });
    const fields = [
      literal(":method", "POST"),
      literal(":scheme", "http"),
      literal(":path", echo.path),
      literal(":authority", path),
      literal("content-type", "application/grpc"),
      literal("te", "trailers"),
    ];
    socket.write(hello);
    socket.write(made(frame.headers, flag.endHeaders, 1, Buffer.concat(fields)));
    socket.write(made(frame.data, flag.endStream, 1, framed(Buffer.from("hello"))));
    let received = "";
    for await (const chunk of socket as AsyncIterable<Buffer>) {
      received += chunk.toString("latin1");
      if (received.includes("grpc-status")) break;
    }
    assert.match(received, /HELLO.*grpc-status.0/s);
  }));

test("requests other than gRPC are rejected", () =>
  withServer(async (_, path) => {
    const session = connectHttp2("http://socket", { createConnection: () => connect({ path }) });
    const stream = session.request({ ":path": echo.path, ":method": "POST", "content-type": "text/plain" });
    stream.end();
    const [headers] = (await once(stream, "response")) as [IncomingHttpHeaders];
    assert.equal(headers[":status"], 415);
    session.destroy();
  }));

test("a streaming procedure sends every response", () =>
  withServer(async (channel) => {
    const stream = await channel.duplex(text("/test.Echo/Count"));
    await stream.send("40");
    stream.end();
    const received: string[] = [];
    for await (const message of stream) received.push(message);
    assert.deepEqual(
      received.map(Number),
      Array.from({ length: 40 }, (_, at) => at + 1),
    );
  }));

test("a client's deadline aborts the handler", () =>
  withServer(async (channel) => {
    await assert.rejects(
      channel.unary(text("/test.Echo/Wait"), "", { deadlineMilliseconds: 50 }),
      ({ code }: GrpcError) => code === "DEADLINE_EXCEEDED",
    );
    assert.equal(await channel.unary(echo, "still here"), "STILL HERE");
  }));

test("the stale socket of a dead process is replaced", async () => {
  const socketPath = freshPath();
  const first = await grpcServer({ socketPath, procedures });
  await assert.rejects(grpcServer({ socketPath, procedures }), /served by another process/);
  await first.close();
  const orphan = createServer();
  await new Promise<void>((resolve) => orphan.listen(socketPath, resolve));
  await new Promise<void>((resolve) => orphan.close(() => resolve()));
  const second = await grpcServer({ socketPath, procedures });
  await second.close();
});

test("a file that is not a socket is kept", async () => {
  const socketPath = join(folder, "plain");
  writeFileSync(socketPath, "precious");
  await assert.rejects(grpcServer({ socketPath, procedures }), /exists and is not a socket/);
});
