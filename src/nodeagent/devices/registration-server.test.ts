import assert from "node:assert/strict";
import { watch } from "node:fs";
import { mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { silentLog, systemClock, virtualClock } from "#base";
import { dialects } from "#dialect";
import { grpcChannel, grpcServer, streamingProcedure, unaryProcedure } from "#http";
import type { DeviceManager } from "./device-manager.ts";
import { devicePlugin } from "./messages.ts";
import { connectDevicePlugin } from "./plugin-connection.ts";
import { deviceRegistration } from "./registration-server.ts";

async function begin(t: TestContext) {
  const directory = await mkdtemp(join(tmpdir(), "devices-"));
  const stopping = new AbortController();
  const seen = Promise.withResolvers<string>();
  const manager: Pick<DeviceManager, "follow"> = {
    follow: async (resource, plugin, signal) => {
      const cancelled = (): undefined => undefined;
      const found = plugin.devices(signal)[Symbol.asyncIterator]().next();
      const { value = [] } = (await found.catch(cancelled)) ?? {};
      seen.resolve(`${resource}: ${(value as { ID: string }[]).map(({ ID }) => ID).join(",")}`);
    },
  };
  const plugin = await grpcServer({
    socketPath: join(directory, "p.sock"),
    procedures: [
      unaryProcedure(devicePlugin.options.serve, () => ({ preStartRequired: true })),
      streamingProcedure(devicePlugin.listAndWatch.serve, async function* (_, { signal }) {
        yield { devices: [{ ID: "d1", health: "Healthy" }] };
        await new Promise((resolve) => signal.addEventListener("abort", resolve));
      }),
    ],
  });
  const registration = deviceRegistration(
    { dialect: dialects.orch, clock: systemClock, log: silentLog, manager },
    stopping.signal,
  );
  const socketPath = join(directory, "nodeagent.sock");
  const channel = grpcChannel({ endpoints: [`unix://${socketPath}`] });
  t.after(async () => {
    stopping.abort();
    channel.close();
    await plugin.close();
    await rm(directory, { recursive: true, force: true });
  });
  return { directory, registration, socketPath, channel, seen: seen.promise };
}
const validRequest = { version: "v1beta1", endpoint: "p.sock", resourceName: "example.com/dev" };

test("existing plug-in sockets are removed before the agent starts to serve", async (t) => {
  const { directory, registration, socketPath } = await begin(t);
  const changed: string[] = [];
  const watcher = watch(directory);
  const served = new Promise<void>((resolve) =>
    watcher.on("change", (_, name) => {
      changed.push(String(name));
      if (name === "nodeagent.sock") resolve();
    }),
  );
  const server = await registration.serve(socketPath);
  await served;
  watcher.close();
  assert.deepEqual(changed.slice(0, 2), ["p.sock", "nodeagent.sock"]);
  assert.deepEqual(await readdir(directory), ["nodeagent.sock"]);
  await server.close();
});

test("plug-in sockets of another agent that is serving are kept", async (t) => {
  const { directory, registration, socketPath } = await begin(t);
  const other = await grpcServer({ socketPath, procedures: [] });
  await assert.rejects(registration.serve(socketPath), /nodeagent\.sock is served by another process/);
  assert.deepEqual((await readdir(directory)).toSorted(), ["nodeagent.sock", "p.sock"]);
  await other.close();
});

test("a registered plug-in is watched", async (t) => {
  const { directory, registration, seen } = await begin(t);
  await registration.register("example.com/dev", join(directory, "p.sock"));
  assert.equal(await seen, "example.com/dev: d1");
});

const refusals: [name: string, request: Partial<typeof validRequest>, message: RegExp][] = [
  [
    "of another version",
    { version: "v1alpha1" },
    /requested API version "v1alpha1" is not supported by nodeagent\. Supported version is \["v1beta1"\]/,
  ],
  [
    "of a resource name in the product's domain",
    { resourceName: "orch.io/dev" },
    /the ResourceName "orch.io\/dev" is invalid/,
  ],
  ["of a resource name without a domain", { resourceName: "cpu" }, /the ResourceName "cpu" is invalid/],
];
for (const [name, request, message] of refusals)
  test(`a plug-in ${name} is rejected`, async (t) => {
    const { registration, socketPath, channel } = await begin(t);
    const server = await registration.serve(socketPath);
    await assert.rejects(channel.unary(devicePlugin.register.call, { ...validRequest, ...request }), {
      detail: message,
    });
    await server.close();
  });

test("the agent waits longer for an unreachable plug-in than plug-ins wait themselves", async (t) => {
  const { directory } = await begin(t);
  const clock = virtualClock();
  const connecting = connectDevicePlugin(join(directory, "none.sock"), clock);
  let failed: unknown;
  void connecting.catch((error: unknown) => (failed = error));
  await clock.advance(10_000);
  assert.equal(failed, undefined);
  await clock.advance(100);
  await assert.rejects(connecting, { message: "context deadline exceeded" });
});
