import { test } from "node:test";
import assert from "node:assert/strict";
import { needs, testAuthority } from "#kit";
import { grpcChannel } from "./channel.ts";
import type { GrpcError } from "./status.ts";
import { scriptedServer } from "./scripted-server.fixture.ts";

const echo = {
  path: "/test.Service/Echo",
  encode: (text: string) => Buffer.from(text),
  decode: (bytes: Uint8Array) => Buffer.from(bytes).toString(),
};

test(
  "over TLS both sides present certificates, which are read for every connection",
  needs("openssl"),
  async (t) => {
    const ours = await testAuthority();
    const client = await ours.issue("/CN=client");
    const server = await scriptedServer(
      async (call) => {
        for await (const text of call.messages) call.send(text);
        call.finish();
      },
      { tls: { ...(await ours.issue("/CN=server", { ips: ["127.0.0.1"] })), ca: ours.ca } },
    );
    t.after(() => server.close());
    const stranger = await testAuthority();
    const cases: [name: string, tls: { ca?: string; cert?: string; key?: string }, works: boolean][] = [
      ["our own certificate", { ca: ours.ca, ...client }, true],
      ["no certificate", { ca: ours.ca }, false],
      ["a stranger's certificate", { ca: ours.ca, ...(await stranger.issue("/CN=client")) }, false],
      ["a server of a stranger's authority", { ca: stranger.ca, ...client }, false],
    ];
    for (const [name, tls, works] of cases) {
      const channel = grpcChannel({ endpoints: [server.url], tls });
      const outcome = await channel.unary(echo, "hello").catch((error: GrpcError) => error.code);
      channel.close();
      assert.equal(outcome, works ? "hello" : "UNAVAILABLE", name);
    }

    let current: { ca: string; cert?: string; key?: string } = { ca: stranger.ca };
    const channel = grpcChannel({
      endpoints: [server.url],
      tls: () => current,
      backOff: { firstMilliseconds: 0, maxMilliseconds: 0 },
    });
    t.after(() => channel.close());
    await assert.rejects(channel.unary(echo, "hello"), { code: "UNAVAILABLE" });
    current = { ca: ours.ca, ...client };
    assert.equal(await channel.unary(echo, "hello"), "hello");
  },
);
