// Contract cases for images, sandboxes and container lifecycle.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { GrpcError } from "#http";
import { namespaceMode } from "../messages/common.ts";
import { containerState } from "../messages/container.ts";
import { millisecondsOf } from "../messages/declarations.ts";
import { sandboxState } from "../messages/sandbox.ts";
import { type ContainerRuntime, isNotFound } from "../runtime.ts";
import { type ContractCase, type ContractWorld, failsWith } from "./world.fixture.ts";

export function podCases(world: ContractWorld): readonly ContractCase[] {
  const { lineIn, sandboxConfig, containerConfig, pod, started, ended, remove } = world;
  return [
    [
      "the runtime supports version v1 and is ready",
      async () => {
        const { runtimeApiVersion, runtimeName } = await world.runtime().version();
        assert.equal(runtimeApiVersion, "v1");
        assert.ok(runtimeName);
        const { conditions } = await world.runtime().status();
        assert.deepEqual(conditions.map(({ type, status }) => `${type} ${status}`).sort(), [
          "NetworkReady true",
          "RuntimeReady true",
        ]);
      },
    ],
    [
      "an image is found by name and by ID, and a missing one is undefined",
      async () => {
        const { image } = await world.runtime().imageStatus({ image: world.at().image });
        assert.ok(image && image.repoTags.includes(world.at().image));
        assert.ok(Number(image.size) > 0);
        assert.equal((await world.runtime().imageStatus({ image: image.id })).image?.id, image.id);
        assert.equal(
          (await world.runtime().imageStatus({ image: "127.0.0.1:1/nothing:1" })).image,
          undefined,
        );
        assert.ok((await world.runtime().listImages()).some(({ id }) => id === image.id));
      },
    ],
    [
      "an image is pulled, found and removed; removing it again succeeds",
      async () => {
        assert.equal((await world.runtime().imageStatus({ image: world.at().pullable })).image, undefined);
        const ref = await world.runtime().pullImage({ image: world.at().pullable });
        const { image } = await world.runtime().imageStatus({ image: world.at().pullable });
        assert.ok(image && (image.id === ref || image.repoDigests.includes(ref)));
        assert.equal(image.uid?.value, 1000);
        await world.runtime().removeImage({ image: world.at().pullable });
        await world.runtime().removeImage({ image: world.at().pullable });
        assert.equal((await world.runtime().imageStatus({ image: world.at().pullable })).image, undefined);
      },
    ],
    [
      "pulling an unknown image fails",
      async () =>
        assert.rejects(
          world.runtime().pullImage({ image: `${world.at().pullable}-not` }),
          failsWith("NOT_FOUND", "UNKNOWN", "INTERNAL", "UNAVAILABLE"),
        ),
    ],
    [
      "the image file system is reported",
      async () => {
        const [first] = await world.runtime().imageFsInfo();
        assert.ok(first?.fsId?.mountpoint.startsWith("/"));
      },
    ],
    [
      "a sandbox is ready with its configuration, and stopping and removing it are idempotent",
      async () => {
        const before = Date.now() - 1000;
        const { id, config } = await pod();
        const { status } = await world.runtime().podSandboxStatus(id);
        assert.deepEqual(
          [status.id, status.state, status.labels, status.annotations],
          [id, sandboxState.ready, config.labels, config.annotations],
        );
        assert.deepEqual(
          [
            status.metadata?.name,
            status.metadata?.namespace,
            status.metadata?.uid,
            status.metadata?.attempt ?? 0,
          ],
          [config.metadata!.name, "contract", config.metadata!.uid, 0],
        );
        assert.ok(millisecondsOf(status.createdAt)! > before);
        assert.match(status.network!.ip, /^10\.\d+\.\d+\.\d+$/);
        await world.runtime().stopPodSandbox(id);
        await world.runtime().stopPodSandbox(id);
        assert.equal((await world.runtime().podSandboxStatus(id)).status.state, sandboxState.notReady);
        await world.runtime().removePodSandbox(id);
        await world.runtime().removePodSandbox(id);
        await assert.rejects(world.runtime().podSandboxStatus(id), isNotFound);
      },
    ],
    [
      "a sandbox on the host network has no IP of its own",
      async () => {
        const config = sandboxConfig();
        const linux = {
          ...config.linux,
          securityContext: {
            namespaceOptions: { network: namespaceMode.node, pid: namespaceMode.container },
          },
        };
        const id = await world.runtime().runPodSandbox({ ...config, hostname: "", linux });
        const { status } = await world.runtime().podSandboxStatus(id);
        assert.equal(status.network?.ip ?? "", "");
        assert.equal(status.linux?.namespaces?.options?.network, namespaceMode.node);
        await remove(id);
      },
    ],
    [
      "sandboxes are listed by id, state and labels",
      async () => {
        const [one, two] = [await pod(), await pod()];
        await world.runtime().stopPodSandbox(two.id);
        const ids = async (filter: Parameters<ContainerRuntime["listPodSandboxes"]>[0]): Promise<string[]> =>
          (await world.runtime().listPodSandboxes(filter))
            .map(({ id }) => id)
            .filter((id) => id === one.id || id === two.id);
        assert.deepEqual((await ids(undefined)).sort(), [one.id, two.id].sort());
        assert.deepEqual(await ids({ id: one.id }), [one.id]);
        assert.deepEqual(await ids({ state: { state: sandboxState.notReady } }), [two.id]);
        assert.deepEqual(await ids({ state: { state: sandboxState.ready } }), [one.id]);
        assert.deepEqual(await ids({ labelSelector: { app: "contract", pod: one.config.labels!["pod"]! } }), [
          one.id,
        ]);
        assert.deepEqual(await ids({ labelSelector: { app: "other" } }), []);
        await Promise.all([remove(one.id), remove(two.id)]);
      },
    ],
    [
      "a sandbox cannot be created twice, but its next attempt can",
      async () => {
        const { id, config } = await pod();
        await assert.rejects(world.runtime().runPodSandbox(config), GrpcError);
        const next = await world.runtime().runPodSandbox({
          ...config,
          metadata: { ...config.metadata, attempt: 1 },
        });
        assert.notEqual(next, id);
        await Promise.all([remove(id), remove(next)]);
      },
    ],
    [
      "a container is created, runs, and exits with its code and times",
      async () => {
        const { id: sandbox, config } = await pod();
        const id = await world
          .runtime()
          .createContainer(sandbox, containerConfig("echo hello; echo trouble >&2; exit 3"), config);
        const created = (await world.runtime().containerStatus(id)).status;
        assert.deepEqual(
          [created.id, created.state, created.labels, created.annotations],
          [id, containerState.created, { container: "main" }, { hash: "1" }],
        );
        assert.equal(created.logPath, `${config.logDirectory}/main/0.log`);
        assert.equal(millisecondsOf(created.startedAt), undefined);
        await world.runtime().startContainer(id);
        const status = await ended(id);
        assert.deepEqual([status.exitCode, status.reason], [3, "Error"]);
        const [createdAt, startedAt, finishedAt] = [
          status.createdAt,
          status.startedAt,
          status.finishedAt,
        ].map((time) => millisecondsOf(time)!);
        // A short-lived container may finish before its start time is recorded.
        assert.ok(createdAt! <= startedAt! && createdAt! <= finishedAt!);
        const lines = readFileSync(status.logPath, "utf8")
          .trim()
          .split("\n")
          .sort((a, b) => a.split(" ")[1]!.localeCompare(b.split(" ")[1]!));
        assert.equal(lines.length, 2);
        assert.match(lines[0]!, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,9})?\S+ stderr F trouble$/);
        assert.match(lines[1]!, / stdout F hello$/);
        await assert.rejects(world.runtime().startContainer(id), GrpcError);
        await remove(sandbox);
      },
    ],
    [
      "a container that exits with 0 is Completed",
      async () => {
        const { sandbox, id } = await started("true");
        const { exitCode, reason } = await ended(id);
        assert.deepEqual([exitCode, reason], [0, "Completed"]);
        await remove(sandbox);
      },
    ],
    [
      "a missing program fails the start",
      async () => {
        const { id: sandbox, config } = await pod();
        const id = await world
          .runtime()
          .createContainer(sandbox, containerConfig("", { command: ["/no/such/program"] }), config);
        await assert.rejects(world.runtime().startContainer(id), GrpcError);
        const status = await ended(id);
        assert.deepEqual([status.exitCode, status.reason], [128, "StartError"]);
        await remove(sandbox);
      },
    ],
    [
      "a container whose image is missing cannot be created",
      async () => {
        const { id: sandbox, config } = await pod();
        await assert.rejects(
          world
            .runtime()
            .createContainer(
              sandbox,
              containerConfig("true", { image: { image: "127.0.0.1:1/nothing:1" } }),
              config,
            ),
          isNotFound,
        );
        await remove(sandbox);
      },
    ],
    [
      "a container that handles SIGTERM ends within its grace period",
      async () => {
        const { sandbox, id } = await started(
          "trap 'exit 0' TERM; echo ready; while true; do sleep 0.05; done",
        );
        await lineIn(id, "ready");
        // A runtime that waited for the whole grace period would exceed the timeout of this test.
        await world.runtime().stopContainer(id, 3600);
        assert.equal((await ended(id)).exitCode, 0);
        await world.runtime().stopContainer(id, 30);
        await remove(sandbox);
      },
    ],
    [
      "a container that ignores SIGTERM is killed after its grace period",
      async () => {
        const { sandbox, id } = await started("trap '' TERM; echo ready; while true; do sleep 0.05; done");
        await lineIn(id, "ready");
        await world.runtime().stopContainer(id, 1);
        assert.equal((await ended(id)).exitCode, 137);
        await remove(sandbox);
      },
    ],
  ];
}
