import { test } from "node:test";
import assert from "node:assert/strict";
import { needsContainerd, startContainerd } from "#kit";
import { containerState } from "../messages/container.ts";
import { sandboxState } from "../messages/sandbox.ts";
import { runtimeContract } from "../runtime.contract.ts";
import { grpcRuntime } from "./grpc-runtime.ts";

const wanted = needsContainerd();
if (wanted.skip) test("containerd keeps the contract of a container runtime", wanted, () => {});
else {
  runtimeContract("containerd", async () => {
    const daemon = await startContainerd();
    const pullable = await daemon.registry.add("other:1", { user: "1000", command: ["/bin/sh"] });
    const runtime = grpcRuntime({ endpoint: daemon.endpoint });
    return {
      runtime,
      image: daemon.images.busybox,
      pullable,
      folder: daemon.folder,
      cgroupRoot: daemon.cgroupRoot,
      stop: async () => {
        runtime.close();
        await daemon.stop();
      },
    };
  });
}

test("after a restart of containerd the same client finds the same containers", wanted, async (t) => {
  const daemon = await startContainerd();
  const runtime = grpcRuntime({ endpoint: daemon.endpoint });
  t.after(async () => {
    runtime.close();
    await daemon.stop();
  });
  const config = {
    metadata: { name: "p", namespace: "n", uid: "u" },
    logDirectory: `${daemon.folder}/logs`,
    linux: { cgroupParent: `${daemon.cgroupRoot}/p` },
  };
  const sandbox = await runtime.runPodSandbox(config);
  const id = await runtime.createContainer(
    sandbox,
    {
      metadata: { name: "main" },
      image: { image: daemon.images.busybox },
      command: ["sleep", "1000"],
      logPath: "main.log",
    },
    config,
  );
  await runtime.startContainer(id);
  for (let round = 0; round < 3; round++) {
    await daemon.kill();
    await assert.rejects(runtime.version(), { code: "UNAVAILABLE" });
    await daemon.start();
    // The reconnect backoff may end while the daemon starts; otherwise it is waited for here.
    let listed = await runtime.listContainers().catch(() => undefined);
    while (!listed) {
      await new Promise((resolve) => setTimeout(resolve, 50));
      listed = await runtime.listContainers().catch(() => undefined);
    }
    assert.deepEqual(
      listed.map((container) => [container.id, container.state]),
      [[id, containerState.running]],
    );
    assert.equal((await runtime.podSandboxStatus(sandbox)).status.state, sandboxState.ready);
    assert.equal((await runtime.execSync(id, ["true"], 10)).exitCode, 0);
  }
});

test("credentials reach the registry", wanted, async (t) => {
  const daemon = await startContainerd();
  const runtime = grpcRuntime({ endpoint: daemon.endpoint });
  t.after(async () => {
    runtime.close();
    await daemon.stop();
  });
  const image = await daemon.registry.add("secret:1", {});
  daemon.registry.protect({ username: "who", password: "knows" });
  await assert.rejects(runtime.pullImage({ image }), /401|authorization|denied/i);
  await assert.rejects(
    runtime.pullImage({ image }, { username: "who", password: "wrong" }),
    /401|authorization|denied/i,
  );
  assert.match(await runtime.pullImage({ image }, { username: "who", password: "knows" }), /^sha256:/);
});
