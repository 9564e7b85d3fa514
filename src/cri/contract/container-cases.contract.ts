// Contract cases for exec, logs, stats and resource updates of containers.
import assert from "node:assert/strict";
import { readFileSync, renameSync } from "node:fs";
import { GrpcError } from "#http";
import { containerState } from "../messages/container.ts";
import { type ContainerRuntime, isNotFound } from "../runtime.ts";
import { type ContractCase, type ContractWorld, containerNamespaces, failsWith } from "./world.fixture.ts";

export function containerCases(world: ContractWorld): readonly ContractCase[] {
  const { lineIn, sandboxConfig, containerConfig, started, ended, remove } = world;
  return [
    [
      "without a grace period a container is killed at once",
      async () => {
        const { sandbox, id } = await started("while true; do sleep 0.05; done");
        await world.runtime().stopContainer(id, 0);
        assert.equal((await ended(id)).exitCode, 137);
        await remove(sandbox);
      },
    ],
    [
      "removing a container is idempotent",
      async () => {
        const { sandbox, id } = await started("true");
        await ended(id);
        await world.runtime().removeContainer(id);
        await world.runtime().removeContainer(id);
        await assert.rejects(world.runtime().containerStatus(id), isNotFound);
        assert.deepEqual(await world.runtime().listContainers({ podSandboxId: sandbox }), []);
        await remove(sandbox);
      },
    ],
    [
      "a container cannot be created twice, but its next attempt can",
      async () => {
        const { sandbox, config, id } = await started("exit 1");
        await ended(id);
        await assert.rejects(
          world.runtime().createContainer(sandbox, containerConfig("true"), config),
          GrpcError,
        );
        const next = await world
          .runtime()
          .createContainer(
            sandbox,
            containerConfig("true", { metadata: { name: "main", attempt: 1 }, logPath: "main/1.log" }),
            config,
          );
        const listed = await world.runtime().listContainers({ podSandboxId: sandbox });
        assert.deepEqual(
          listed
            .map((one) => [one.id, one.metadata?.attempt ?? 0, one.state])
            .sort((a, b) => Number(a[1]) - Number(b[1])),
          [
            [id, 0, containerState.exited],
            [next, 1, containerState.created],
          ],
        );
        await remove(sandbox);
      },
    ],
    [
      "containers are listed by id, state, sandbox and labels",
      async () => {
        const running = await started("sleep 1000");
        const over = await started("true");
        await ended(over.id);
        const ids = async (filter: Parameters<ContainerRuntime["listContainers"]>[0]): Promise<string[]> =>
          (await world.runtime().listContainers(filter))
            .map(({ id }) => id)
            .filter((id) => id === running.id || id === over.id);
        assert.deepEqual((await ids(undefined)).sort(), [running.id, over.id].sort());
        assert.deepEqual(await ids({ id: over.id }), [over.id]);
        assert.deepEqual(await ids({ state: { state: containerState.running } }), [running.id]);
        assert.deepEqual(await ids({ podSandboxId: over.sandbox }), [over.id]);
        assert.deepEqual(await ids({ labelSelector: { container: "other" } }), []);
        const [listed] = await world.runtime().listContainers({ id: running.id });
        assert.deepEqual(
          [listed!.podSandboxId, listed!.image?.image, listed!.annotations],
          [running.sandbox, world.at().image, { hash: "1" }],
        );
        await Promise.all([remove(running.sandbox), remove(over.sandbox)]);
      },
    ],
    [
      "stopping a sandbox stops its containers, removing it removes them",
      async () => {
        const { sandbox, id } = await started("while true; do sleep 0.05; done");
        await world.runtime().stopPodSandbox(sandbox);
        assert.equal((await ended(id)).exitCode, 137);
        await world.runtime().removePodSandbox(sandbox);
        await assert.rejects(world.runtime().containerStatus(id), isNotFound);
        assert.deepEqual(await world.runtime().listContainers({ podSandboxId: sandbox }), []);
      },
    ],
    [
      "execSync returns stdout, stderr and exit code",
      async () => {
        const { sandbox, id } = await started("sleep 1000");
        const { stdout, stderr, exitCode } = await world
          .runtime()
          .execSync(id, ["sh", "-c", "echo out; echo err >&2; exit 4"], 60);
        assert.deepEqual(
          [Buffer.from(stdout).toString(), Buffer.from(stderr).toString(), exitCode],
          ["out\n", "err\n", 4],
        );
        assert.equal((await world.runtime().execSync(id, ["true"], 0)).exitCode, 0);
        await assert.rejects(world.runtime().execSync(id, ["sleep", "100"], 1), {
          name: "ExecTimeout",
          message: 'command "sleep 100" timed out',
        });
        await assert.rejects(world.runtime().execSync(id, ["/no/such/program"], 60), GrpcError);
        assert.equal((await world.runtime().containerStatus(id)).status.state, containerState.running);
        await remove(sandbox);
        await assert.rejects(world.runtime().execSync(id, ["true"], 10), isNotFound);
      },
    ],
    [
      "environment and mounts reach the program",
      async () => {
        const mounts = [{ containerPath: "/shared", hostPath: `${world.at().folder}/logs` }];
        const { sandbox, id } = await started(
          'echo "$GREETING" > /shared/greeting; cat /shared/greeting; sleep 1000',
          {
            envs: [{ key: "GREETING", value: "good day" }],
            mounts,
          },
        );
        await lineIn(id, "good day");
        assert.equal(readFileSync(`${world.at().folder}/logs/greeting`, "utf8"), "good day\n");
        assert.deepEqual(
          (await world.runtime().containerStatus(id)).status.mounts.map((mount) => mount.containerPath),
          ["/shared"],
        );
        await remove(sandbox);
      },
    ],
    [
      "exec, attach and portForward return URLs while the container runs",
      async () => {
        const { sandbox, id } = await started("sleep 1000");
        for (const url of [
          await world
            .runtime()
            .exec({ containerId: id, cmd: ["sh"], stdin: true, stdout: true, stderr: true }),
          await world.runtime().attach({ containerId: id, stdout: true }),
          await world.runtime().portForward(sandbox, [80]),
        ])
          assert.match(url, /^http:\/\/127\.0\.0\.1:\d+\//);
        await remove(sandbox);
        await assert.rejects(world.runtime().exec({ containerId: id, cmd: ["sh"], stdout: true }), GrpcError);
      },
    ],
    [
      "a running container has stats",
      async () => {
        const { sandbox, id } = await started("while true; do sleep 0.01; done");
        const stats = await world.runtime().containerStats(id);
        assert.equal(stats.attributes?.id, id);
        assert.ok(Number(stats.memory?.workingSetBytes?.value) > 0);
        const used = async (): Promise<number> =>
          Number((await world.runtime().containerStats(id)).cpu?.usageCoreNanoSeconds?.value ?? 0);
        const first = await used();
        while ((await used()) <= first) await new Promise((resolve) => setTimeout(resolve, 20));
        assert.deepEqual(
          (await world.runtime().listContainerStats({ podSandboxId: sandbox })).map(
            (one) => one.attributes?.id,
          ),
          [id],
        );
        const pods = await world.runtime().listPodSandboxStats({ id: sandbox });
        assert.deepEqual(
          pods.map((one) => [one.attributes?.id, one.linux?.containers.length]),
          [[sandbox, 1]],
        );
        assert.equal((await world.runtime().podSandboxStats(sandbox)).attributes?.id, sandbox);
        await remove(sandbox);
      },
    ],
    [
      "resources of a running container can be updated",
      async () => {
        const { sandbox, id } = await started("sleep 1000", {
          linux: {
            securityContext: containerNamespaces,
            resources: { cpuShares: 100, memoryLimitInBytes: 64 << 20 },
          },
        });
        await world.runtime().updateContainerResources(id, { cpuShares: 200, memoryLimitInBytes: 128 << 20 });
        assert.equal((await world.runtime().containerStatus(id)).status.state, containerState.running);
        await remove(sandbox);
      },
    ],
    [
      "after its log is renamed a container continues in a new file",
      async () => {
        const { sandbox, id } = await started("while true; do echo tick; sleep 0.02; done");
        await lineIn(id, "tick");
        const { logPath } = (await world.runtime().containerStatus(id)).status;
        renameSync(logPath, `${logPath}.old`);
        await world.runtime().reopenContainerLog(id);
        await lineIn(id, "tick");
        await remove(sandbox);
      },
    ],
    [
      "missing containers and sandboxes are not found",
      async () => {
        const missingId = "0".repeat(64);
        await assert.rejects(world.runtime().containerStatus(missingId), isNotFound);
        await assert.rejects(world.runtime().podSandboxStatus(missingId), isNotFound);
        await assert.rejects(world.runtime().startContainer(missingId), isNotFound);
        await assert.rejects(
          world.runtime().createContainer(missingId, containerConfig("true"), sandboxConfig()),
          isNotFound,
        );
        await world.runtime().stopPodSandbox(missingId);
        await world.runtime().removePodSandbox(missingId);
        await world.runtime().stopContainer(missingId, 1);
        await world.runtime().removeContainer(missingId);
      },
    ],
    [
      "an aborted call is rejected at once",
      async () => {
        const { sandbox, id } = await started("sleep 1000");
        const stop = new AbortController();
        const running = world.runtime().execSync(id, ["sleep", "100"], 0, stop.signal);
        stop.abort(new Error("enough"));
        await assert.rejects(running, failsWith("CANCELLED"));
        await assert.rejects(world.runtime().version(stop.signal), failsWith("CANCELLED"));
        await remove(sandbox);
      },
    ],
    [
      "concurrent pods do not interfere",
      async () => {
        const all = await Promise.all(
          Array.from({ length: 8 }, (_, n) => started(`echo number ${n}; exit ${n}`)),
        );
        for (const [n, { id, sandbox }] of all.entries()) {
          assert.equal((await ended(id)).exitCode, n);
          await lineIn(id, `number ${n}`);
          await remove(sandbox);
        }
      },
    ],
  ];
}
