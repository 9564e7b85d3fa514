import assert from "node:assert/strict";
import { once } from "node:events";
import { request } from "node:https";
import { test } from "node:test";
import { needs } from "#kit";
import { IncompleteBody, BodyTooLarge, type Call, type Reply, type Sink, headerList } from "./call.ts";
import { ask, askHttp1, askHttp2, openHttp2, secured, type Secured } from "./listener.fixture.ts";

const tls = needs("openssl");
const protocols: readonly Call["protocol"][] = ["1.1", "2"];
const reply = (body?: Reply["body"], status = 200): Reply => ({
  status,
  headers: { "content-type": "text/plain" },
  ...(body && { body }),
});
const bytes = (text: string): Buffer => Buffer.from(text);

for (const protocol of protocols) {
  const over = `over HTTP/${protocol}`;
  const implementations = protocol === "2" ? (["builtin", "node"] as const) : (["builtin"] as const);

  test(`${over} a handler sees the request as it came`, tls, async (t) => {
    let seen: Call | undefined;
    const server = await secured(t, async (call) => {
      seen = call;
      return reply(await call.body(100));
    });
    const answer = await ask(server, protocol, {
      method: "PUT",
      path: "/a%2Fb/c?x=1&y=%20?z",
      headers: { "X-Name": "v" },
      body: "hällo",
    });
    assert.equal(answer.text, "hällo");
    const { method, path, search, headers, peer, upgradable } = seen!;
    assert.deepEqual(
      {
        method,
        path,
        search,
        name: headers["x-name"],
        protocol: seen!.protocol,
        address: peer.address,
        upgradable,
      },
      {
        method: "PUT",
        path: "/a%2Fb/c",
        search: "x=1&y=%20?z",
        name: "v",
        protocol,
        address: "127.0.0.1",
        upgradable: false,
      },
    );
  });

  for (const http2Implementation of implementations)
    test(
      `${over} by ${http2Implementation} the hook before sending a response runs before it is sent`,
      tls,
      async (t) => {
        const bodies: readonly Reply["body"][] = [
          undefined,
          bytes("one"),
          [bytes("one"), bytes("two")],
          { stream: async (sink) => sink.write(bytes("some")) },
        ];
        const happened: string[] = [];
        const server = await secured(
          t,
          async ({ path }) => ({
            ...reply(bodies[Number(path.slice(1))]),
            beforeSending: () => happened.push(path),
          }),
          { http2Implementation },
        );
        for (const at of bodies.keys()) {
          const { status } = await ask(server, protocol, { path: `/${at}` });
          assert.deepEqual(
            [status, happened],
            [200, [...bodies.keys()].slice(0, at + 1).map((n) => `/${n}`)],
          );
        }
      },
    );

  test(`${over} a repeated header has two values`, tls, async (t) => {
    let groups: readonly string[] = [];
    const server = await secured(t, async (call) => {
      groups = headerList(call.headers, "impersonate-group");
      return reply();
    });
    await ask(server, protocol, { headers: { "impersonate-group": ["a, b", "c"] } });
    assert.deepEqual(groups, ["a, b", "c"]);
  });

  const bodies: [name: string, body: Reply["body"], text: string, length: string | undefined][] = [
    ["no body", undefined, "", "0"],
    ["an empty body", bytes(""), "", "0"],
    ["bytes", bytes("one"), "one", "3"],
    ["parts", [bytes("one"), bytes(""), bytes("two")], "onetwo", "6"],
    ["no parts", [], "", "0"],
    [
      "a stream",
      {
        stream: async (sink) => {
          sink.write(bytes("one"));
          await Promise.resolve();
          sink.write(bytes("two"));
        },
      },
      "onetwo",
      undefined,
    ],
  ];
  for (const [name, body] of bodies)
    test(`${over} the bytes of a header are sent as they are with a reply of ${name}`, tls, async (t) => {
      const sent = Buffer.from("naïve ☃").toString("latin1") + "\xe9\xff";
      const server = await secured(t, async () => ({
        status: 200,
        headers: { "x-one": sent, "x-two": [sent, "b"] },
        ...(body && { body }),
      }));
      for (const method of ["GET", "HEAD"]) {
        const { headers } = await ask(server, protocol, { method });
        assert.deepEqual([headers["x-one"], headers["x-two"]], [sent, `${sent}, b`]);
      }
    });
  for (const [name, body, text, length] of bodies) {
    test(`${over} a reply of ${name} arrives, and HEAD shows its headers only`, tls, async (t) => {
      const server = await secured(t, async () => reply(body, 203));
      const answer = await ask(server, protocol);
      assert.deepEqual(
        [answer.status, answer.text, answer.headers["content-type"]],
        [203, text, "text/plain"],
      );
      assert.equal(answer.headers["content-length"] ?? (text === "" ? "0" : undefined), length);
      const head = await ask(server, protocol, { method: "HEAD" });
      assert.deepEqual(
        [head.status, head.text, head.headers["content-length"]],
        [203, "", answer.headers["content-length"]],
      );
    });
  }

  for (const status of [204, 304])
    test(`${over} a declared content length is not sent with status ${status}`, tls, async (t) => {
      const headers = { "content-length": "5", etag: '"x"' };
      for (const body of [undefined, Buffer.alloc(0), [], { stream: async () => undefined }])
        for (const http2Implementation of ["builtin", "node"] as const) {
          const reply: Reply = { status, headers, ...(body && { body }) };
          const server = await secured(t, async () => reply, { http2Implementation });
          const answer = await ask(server, protocol);
          assert.deepEqual(
            [answer.status, answer.headers["content-length"], answer.headers.etag, answer.text],
            [status, undefined, '"x"', ""],
          );
        }
    });
  for (const status of [204, 304]) {
    test(`${over} a response with status ${status} has no content and no content length`, tls, async (t) => {
      const server = await secured(t, async () => ({ status, headers: { etag: '"x"' } }));
      const answer = await ask(server, protocol);
      assert.deepEqual(
        [answer.status, answer.headers["content-length"], answer.headers.etag],
        [status, undefined, '"x"'],
      );
    });
  }

  test(`${over} a failing stream aborts the response, and the server continues`, tls, async (t) => {
    const server = await secured(t, async ({ path }) =>
      path === "/bad"
        ? reply({
            stream: async (sink) => {
              sink.write(bytes("half"));
              throw new Error("on purpose");
            },
          })
        : reply(bytes("well")),
    );
    await assert.rejects(ask(server, protocol, { path: "/bad" }), /aborted|INTERNAL_ERROR/);
    assert.equal((await ask(server, protocol)).text, "well");
  });

  for (const http2Implementation of implementations)
    test(`${over} by ${http2Implementation} the trailers of a stream follow its body`, tls, async (t) => {
      const server = await secured(
        t,
        async () => ({
          ...reply({ stream: async (sink) => sink.write(bytes("body")) }),
          headers: { trailer: "x-checksum" },
          trailers: () => ({ "x-checksum": "1", "x-later": ["2", "3"] }),
        }),
        { http2Implementation },
      );
      const { text, headers, trailers } = await ask(server, protocol);
      assert.deepEqual(
        [text, headers.trailer, trailers["x-checksum"], trailers["x-later"]],
        ["body", "x-checksum", "1", "2, 3"],
      );
      assert.equal((await ask(server, protocol, { method: "HEAD" })).text, "");
    });

  const limits: [name: string, size: number, declared: boolean, fits: boolean][] = [
    ["a body at the limit is read", 1000, true, true],
    ["a declared body beyond the limit is rejected before it arrives", 1001, true, false],
    ["an undeclared body at the limit is read", 1000, false, true],
    ["an undeclared body beyond the limit is rejected while it arrives", 100_000, false, false],
  ];
  for (const [name, size, declared, fits] of limits) {
    test(`${over} ${name}, and the next request works`, tls, async (t) => {
      const server = await secured(t, async (call) => {
        try {
          return reply(bytes(String((await call.body(1000)).length)));
        } catch (error) {
          return reply(
            bytes(error instanceof BodyTooLarge ? `over ${error.limitBytes}` : String(error)),
            413,
          );
        }
      });
      const headers: Record<string, string> = declared
        ? { "content-length": String(size) }
        : protocol === "1.1"
          ? { "transfer-encoding": "chunked" }
          : {};
      const body = Buffer.alloc(size);
      const answer = await ask(server, protocol, { method: "POST", headers, body });
      assert.deepEqual([answer.status, answer.text], fits ? [200, String(size)] : [413, "over 1000"]);
      assert.equal((await ask(server, protocol, { method: "POST", body: "x" })).text, "1");
    });
  }

  test(`${over} a client that disconnects in the middle of its body is detected`, tls, async (t) => {
    const { promise, resolve } = Promise.withResolvers<unknown>();
    const server = await secured(t, async (call) => {
      const { signal } = call;
      const error = await call.body(1000).catch((reason: unknown) => reason);
      resolve([error instanceof IncompleteBody, signal.aborted || (await once(signal, "abort"), true)]);
      return reply();
    });
    await leave("half");
    assert.deepEqual(await promise, [true, true]);

    async function leave(text: string): Promise<void> {
      if (protocol === "1.1") {
        const socket = await server.raw();
        socket.write(`POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 10\r\n\r\n${text}`, () =>
          socket.destroy(),
        );
      } else {
        const session = await server.http2();
        const stream = openHttp2(session, { method: "POST" });
        stream.write(text, () => session.destroy());
      }
    }
  });

  test(`${over} a client that disconnects before its body is read is detected`, tls, async (t) => {
    const arrived = Promise.withResolvers<void>();
    const outcome = Promise.withResolvers<unknown>();
    const server = await secured(t, async (call) => {
      arrived.resolve();
      if (!call.signal.aborted) await once(call.signal, "abort");
      await new Promise((resolve) => setImmediate(resolve));
      outcome.resolve(await call.body(1000).catch((reason: unknown) => (reason as Error).name));
      return reply();
    });
    if (protocol === "1.1") {
      const socket = await server.raw();
      socket.write("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 10\r\n\r\n");
      await arrived.promise;
      socket.destroy();
    } else {
      const session = await server.http2();
      openHttp2(session, { method: "POST" });
      await arrived.promise;
      session.destroy();
    }
    assert.equal(await outcome.promise, "IncompleteBody");
  });

  test(`${over} a client that disconnects in the middle of a response closes the sink`, tls, async (t) => {
    const closed = Promise.withResolvers<void>();
    const server = await secured(t, async () =>
      reply({
        stream: async (sink) => {
          sink.write(bytes("first"));
          await once(sink.closed, "abort");
          sink.write(bytes("to nobody"));
          await sink.drained();
          closed.resolve();
        },
      }),
    );
    if (protocol === "1.1") {
      const sent = request({ host: "127.0.0.1", port: server.port, ca: server.ca, agent: false }, (answer) =>
        answer.once("data", () => sent.destroy()),
      );
      sent.on("error", () => undefined).end();
    } else {
      const session = await server.http2();
      const stream = openHttp2(session, {}, true);
      stream.once("data", () => stream.close());
    }
    await closed.promise;
  });

  test(`${over} a stalled reader shows as backlog, and drained() waits for it`, tls, async (t) => {
    const chunk = Buffer.alloc(256 * 1024, "x");
    const full = Promise.withResolvers<Sink>();
    const drained = Promise.withResolvers<number>();
    let written = 0;
    const server = await secured(t, async () =>
      reply({
        stream: async (sink) => {
          while (sink.backlogBytes < 4 * chunk.length) {
            sink.write(chunk);
            written += chunk.length;
            await new Promise((resolve) => setImmediate(resolve));
          }
          full.resolve(sink);
          await sink.drained();
          drained.resolve(sink.backlogBytes);
        },
      }),
    );
    let read = 0;
    const count = (part: Buffer): void => void (read += part.length);
    if (protocol === "1.1") {
      const sent = request({ host: "127.0.0.1", port: server.port, ca: server.ca, agent: false }).end();
      const [answer] = (await once(sent, "response")) as [NodeJS.ReadableStream];
      await full.promise;
      answer.on("data", count);
      await once(answer, "end");
    } else {
      const stream = openHttp2(await server.http2(), {}, true);
      await once(stream, "response");
      await full.promise;
      stream.on("data", count);
      await once(stream, "end");
    }
    assert.ok((await drained.promise) < 64 * 1024);
    assert.equal(read, written);
  });

  test(`${over} a failing handler aborts only its own call`, tls, async (t) => {
    const server = await secured(t, async ({ path }) => {
      if (path === "/bad") throw new Error("on purpose");
      return reply(bytes("well"));
    });
    if (protocol === "1.1") await assert.rejects(askHttp1(server, { path: "/bad" }), /hang up|ECONNRESET/);
    else {
      const session = await server.http2();
      const bad = openHttp2(session, { path: "/bad" }, true);
      await assert.rejects(once(bad, "close"), /INTERNAL_ERROR/);
      assert.equal((await askHttp2(session)).text, "well");
    }
    assert.equal((await ask(server, protocol)).text, "well");
  });

  test(`${over} a call without an upgrade request cannot be taken over`, tls, async (t) => {
    const server = await secured(t, async ({ path }) =>
      reply(path === "/take" ? { takeOver: () => assert.fail("taken over") } : bytes("well")),
    );
    if (protocol === "1.1") await assert.rejects(askHttp1(server, { path: "/take" }), /hang up|ECONNRESET/);
    else
      await assert.rejects(
        once(openHttp2(await server.http2(), { path: "/take" }, true), "close"),
        /INTERNAL_ERROR/,
      );
    assert.equal((await ask(server, protocol)).text, "well");
  });
}

test("over HTTP/2 a response to a request with an unread body releases the stream", tls, async (t) => {
  const server = await secured(t, async () => reply([bytes("early")]));
  const session = await server.http2();
  const stream = openHttp2(session, { method: "POST" });
  await once(stream, "response");
  stream.resume();
  stream.end(Buffer.alloc(3 * 1024 * 1024));
  await once(stream, "close");
  assert.equal((await askHttp2(session)).text, "early");
});

test("an abort is visible in a signal created later", tls, async (t) => {
  const [arrived, gone, late] = [
    Promise.withResolvers<void>(),
    Promise.withResolvers<void>(),
    Promise.withResolvers<boolean>(),
  ];
  const server = await secured(t, async (call) => {
    arrived.resolve();
    await gone.promise;
    late.resolve(call.signal.aborted);
    return reply();
  });
  const session = await server.http2();
  openHttp2(session, {}, true);
  await arrived.promise;
  session.destroy();
  while (server.listener.connections() > 0) await new Promise((resolve) => setImmediate(resolve));
  gone.resolve();
  assert.equal(await late.promise, true);
});

for (const protocol of ["1.1", "2"] as const) {
  for (const size of [0, 5, 3_000_000])
    test(`over HTTP/${protocol} a body of ${size} bytes is buffered and then read whole`, tls, async (t) => {
      const server = await secured(t, async (call) => {
        await call.bodyBuffered();
        await call.bodyBuffered();
        const body = await call.body(4_000_000);
        return { status: 200, headers: {}, body: Buffer.from(`${body.length} ${body.at(-1) ?? ""}`) };
      });
      const answer = await ask(server, protocol, { method: "POST", body: Buffer.alloc(size, 7) });
      assert.equal(answer.text, size === 0 ? "0 " : `${size} 7`);
    });

  test(
    `over HTTP/${protocol} waiting for a missing body ends when its client disconnects`,
    tls,
    async (t) => {
      const [came, left] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
      const server = await secured(t, async (call) => {
        came.resolve();
        let buffered = false;
        void call.bodyBuffered().then(() => (buffered = true));
        await new Promise((resolve) => setImmediate(resolve));
        assert.equal(buffered, false);
        await call.bodyBuffered();
        left.resolve();
        return { status: 200, headers: {} };
      });
      const leave = await slowly(server, protocol);
      await came.promise;
      leave();
      await left.promise;
    },
  );
}

/**
 * Starts a request that announces a body but sends none of it; returns a function that disconnects the
 * client.
 */
async function slowly(server: Secured, protocol: "1.1" | "2"): Promise<() => void> {
  if (protocol === "2") {
    const session = await server.http2();
    openHttp2(session, { method: "POST" });
    return () => session.destroy();
  }
  const socket = await server.raw();
  socket.write("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\n");
  return () => socket.destroy();
}
