import assert from "node:assert/strict";
import { createServer } from "node:net";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { connectDbus } from "./dbus.ts";
import type { Dbus } from "./dbus.ts";
import type { DbusMessage } from "./dbus-message.ts";
import { logind } from "./logind.ts";

test("only logind announces shutdowns", async () => {
  let send: (message: DbusMessage) => void = () => undefined;
  const bus: Dbus = {
    call: async ({ member }) => (member === "GetNameOwner" ? [":1.7"] : []),
    onSignal: (listener) => void (send = listener),
    closed: new Promise(() => undefined),
    close: () => undefined,
  };
  const seen: boolean[] = [];
  await logind({ bus, agent: "agent", agentTitle: "Agent" }).onShutdown((begins) => seen.push(begins));
  const signal = {
    type: "signal",
    serial: 1,
    interface: "org.freedesktop.login1.Manager",
    member: "PrepareForShutdown",
  } as const;
  send({ ...signal, sender: ":1.9", body: [true] });
  send({ ...signal, body: [true] });
  send({ ...signal, sender: ":1.7", body: [false] });
  await new Promise((resolve) => setImmediate(resolve));
  assert.deepEqual(seen, [false]);
});

test("a bus that closes the connection at once is reported", async (t) => {
  const folder = await mkdtemp(join(tmpdir(), "bus-"));
  const server = createServer((socket) => socket.resume().end());
  const path = join(folder, "socket");
  await new Promise<void>((resolve) => server.listen(path, resolve));
  t.after(async () => {
    server.close();
    await rm(folder, { recursive: true });
  });
  await assert.rejects(connectDbus(`unix:path=${path}`), /connection to the bus was closed|EPIPE/);
});
