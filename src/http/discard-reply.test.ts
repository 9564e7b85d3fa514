// Whatever a streamed reply holds is released, even if no client reads it.
import { test } from "node:test";
import { needs } from "#kit";
import type { Reply, Sink } from "./call.ts";
import { ask, openHttp2, secured } from "./listener.fixture.ts";

const tls = needs("openssl");

/** A stream that ends when its sink is closed. */
function endless(): { readonly reply: Reply; readonly ended: Promise<void> } {
  const { promise, resolve } = Promise.withResolvers<void>();
  const stream = async ({ closed }: Sink): Promise<void> => {
    if (!closed.aborted) await new Promise((end) => closed.addEventListener("abort", end));
    resolve();
  };
  return { reply: { status: 200, headers: {}, body: { stream } }, ended: promise };
}

for (const protocol of ["1.1", "2", "2 on node:http2"] as const) {
  const http2Implementation = protocol === "2" ? "builtin" : "node";
  const version = protocol === "1.1" ? "1.1" : "2";

  test(`over HTTP/${protocol} a HEAD request ends the stream of its reply`, tls, async (t) => {
    const { reply, ended } = endless();
    const server = await secured(t, async () => reply, { http2Implementation });
    await ask(server, version, { method: "HEAD" });
    await ended;
  });

  test(`over HTTP/${protocol} a reply whose client has disconnected is ended`, tls, async (t) => {
    const { reply, ended } = endless();
    const server = await secured(
      t,
      async ({ signal }) => {
        leave();
        await new Promise((gone) => signal.addEventListener("abort", gone));
        return reply;
      },
      { http2Implementation },
    );
    let leave: () => void;
    if (version === "1.1") {
      const socket = await server.raw();
      leave = () => void socket.destroy();
      socket.write("GET / HTTP/1.1\r\nHost: x\r\n\r\n");
    } else {
      const session = await server.http2();
      const stream = openHttp2(session, {}, true);
      stream.on("error", () => undefined);
      leave = () => session.destroy();
    }
    await ended;
  });
}

test("the reply to an upgrade request whose client has disconnected is ended", tls, async (t) => {
  const { reply, ended } = endless();
  const server = await secured(t, async ({ signal }) => {
    socket.destroy();
    await new Promise((gone) => signal.addEventListener("abort", gone));
    return reply;
  });
  const socket = await server.raw();
  socket.write("GET / HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: x\r\n\r\n");
  await ended;
});
