import assert from "node:assert/strict";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { silentLog, systemClock } from "#base";
import { type GrpcServer, grpcServer, unaryProcedure } from "#http";
import { type PluginHandler, watchPlugins } from "./plugin-watcher.ts";
import { type PluginInfo, registration } from "./registration-messages.ts";

type Status = { readonly pluginRegistered?: boolean | undefined; readonly error?: string | undefined };

/** Sets up a watched directory and plugins that announce themselves in it. */
async function begin(
  t: TestContext,
  handler: Partial<PluginHandler> = {},
  onScan: (found: readonly string[], registered: readonly string[]) => void = () => undefined,
) {
  const directory = await mkdtemp(join(tmpdir(), "plugins-"));
  const stopping = new AbortController();
  const calls: string[] = [];
  const gone = Promise.withResolvers<void>();
  const servers: GrpcServer[] = [];
  t.after(async () => {
    stopping.abort();
    for (const server of servers) await server.close();
    await rm(directory, { recursive: true, force: true });
  });
  const announce = async (
    file: string,
    info: Partial<PluginInfo>,
  ): Promise<{ readonly status: Promise<Status> }> => {
    const answered = Promise.withResolvers<Status>();
    const server = await grpcServer({
      socketPath: join(directory, file),
      procedures: [
        unaryProcedure(registration.info.serve, () => ({
          type: "Disk",
          name: file,
          endpoint: "",
          supportedVersions: ["1.0"],
          ...info,
        })),
        unaryProcedure(registration.notify.serve, (status) => {
          answered.resolve(status);
          return {};
        }),
      ],
    });
    servers.push(server);
    return { status: answered.promise };
  };
  const watch = (): void =>
    void watchPlugins(
      {
        clock: systemClock,
        pace: { scanMilliseconds: 5, firstRetryMilliseconds: 5 },
        log: silentLog,
        directory,
        onScan,
        handlers: {
          Disk: {
            validate: () => undefined,
            register: async ({ name, endpoint }) => void calls.push(`${name} at ${endpoint}`),
            deregister: async ({ name }) => {
              calls.push(`${name} removed`);
              gone.resolve();
            },
            ...handler,
          },
        },
      },
      stopping.signal,
    );
  return { directory, calls, announce, watch, gone: gone.promise };
}

test("a plugin is registered with its socket and notified, and deregistered when its socket is removed", async (t) => {
  const { directory, calls, announce, watch, gone } = await begin(t);
  await announce(".hidden.sock", {});
  const { status } = await announce("a.sock", { endpoint: "/run/a.sock" });
  watch();
  assert.deepEqual(await status, { pluginRegistered: true });
  assert.deepEqual(calls, ["a.sock at /run/a.sock"]);
  await rm(join(directory, "a.sock"));
  await gone;
  assert.deepEqual(calls.at(-1), "a.sock removed");
});

const refusals: [name: string, info: Partial<PluginInfo>, handler: Partial<PluginHandler>, error: RegExp][] =
  [
    [
      "of a type without a handler",
      { type: "Odd" },
      {},
      /^RegisterPlugin error -- no handler registered for plugin type: Odd at socket .*\/b\.sock$/,
    ],
    [
      "that is invalid",
      {},
      {
        validate: () => {
          throw new Error("too old");
        },
      },
      /^RegisterPlugin error -- plugin validation failed with err: too old$/,
    ],
    [
      "that cannot be registered",
      {},
      { register: async () => await Promise.reject(new Error("no answer")) },
      /^RegisterPlugin error -- plugin registration failed with err: no answer$/,
    ],
  ];
for (const [name, info, handler, error] of refusals)
  test(`a plugin ${name} is notified of the error`, async (t) => {
    const { announce, watch } = await begin(t, handler);
    const { status } = await announce("b.sock", info);
    watch();
    const { pluginRegistered = false, error: text = "" } = await status;
    assert.equal(pluginRegistered, false);
    assert.match(text, error);
  });

test("a rejected plugin is retried", async (t) => {
  let tries = 0;
  const again = Promise.withResolvers<void>();
  const { announce, watch } = await begin(t, {
    register: async () => {
      if (++tries === 1) throw new Error("not yet");
      again.resolve();
    },
  });
  await announce("c.sock", {});
  watch();
  await again.promise;
  assert.equal(tries, 2);
});

test("each scan reports the sockets found, and those of registered plugins", async (t) => {
  const registered = Promise.withResolvers<readonly (readonly string[])[]>();
  const onScan = (found: readonly string[], registeredPaths: readonly string[]): void => {
    if (registeredPaths.length > 0) registered.resolve([found, registeredPaths]);
  };
  const { directory, announce, watch } = await begin(t, {}, onScan);
  await announce("good.sock", {});
  await announce("odd.sock", { type: "Odd" });
  watch();
  const [found, paths] = await registered.promise;
  assert.deepEqual(found?.toSorted(), [join(directory, "good.sock"), join(directory, "odd.sock")]);
  assert.deepEqual(paths, [join(directory, "good.sock")]);
});
