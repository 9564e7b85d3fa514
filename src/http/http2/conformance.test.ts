import { once } from "node:events";
import { type AddressInfo, createServer } from "node:net";
import type { TestContext } from "node:test";
import type { Call, Reply } from "../call.ts";
import { type Http2Session, nodeHttp2Session } from "../node-http2-session.ts";
import { http2Contract } from "./http2.contract.ts";
import { answerWith, serve } from "./raw-client.fixture.ts";

http2Contract("builtin", (t) =>
  serve(t, async (stream) => {
    if (stream.head.target === "/wait") return;
    await stream.body(100_000).catch(() => undefined);
    await answerWith("well")(stream);
  }),
);

async function serveByNode(t: TestContext): Promise<number> {
  const sessions = new Set<Http2Session>();
  const handle = async (call: Call): Promise<Reply> => {
    if (call.path === "/wait") return new Promise(() => undefined);
    await call.body(100_000);
    return { status: 200, headers: {}, body: Buffer.from("well") };
  };
  const server = createServer((socket) => {
    const session = nodeHttp2Session(socket, {
      peer: { address: "", certificates: () => [] },
      handle,
      now: Date.now,
      maxStreamsPerConnection: 10,
      idleTimeoutMilliseconds: 60_000,
      begin: (exchange) => exchange(),
      onClose: () => sessions.delete(session),
    });
    sessions.add(session);
  }).listen(0, "127.0.0.1");
  t.after(() => {
    server.close();
    for (const session of sessions) session.destroy();
  });
  await once(server, "listening");
  return (server.address() as AddressInfo).port;
}

const lenient = "nghttp2 ignores it";
http2Contract("node", serveByNode, {
  "another preface": "the connection is closed without GOAWAY",
  "a stream lower than one opened before": lenient,
  "closed by RST_STREAM: DATA": lenient,
  "closed by RST_STREAM: HEADERS": lenient,
  "PRIORITY on stream 0": lenient,
  "an acknowledgement of PING is not answered": "an unexpected acknowledgement ends the connection",
  "GOAWAY with an unknown error code": "any error code ends the connection",
  "a content length below the DATA that follows": "the error code is another one",
  "a field name with a space": "the field is dropped instead",
  "a field value that ends with a tab": "the field is dropped instead",
  "a field value that starts with a space": "the field is dropped instead",
  "a field value with a NUL": "the field is dropped instead",
  "a field value with a line break": "the field is dropped instead",
});
