// The contract of a ContainerRuntime: one suite for the real thing and for the fake, so that tests on the
// fake mean something.
import assert from "node:assert/strict";
import { readFileSync, renameSync } from "node:fs";
import { after, before, describe, test } from "node:test";
import { GrpcError } from "#http";
import { namespaceMode } from "./messages/common.ts";
import { type ContainerConfig, type ContainerStatus, containerState } from "./messages/container.ts";
import { millisecondsOf } from "./messages/language.ts";
import { type PodSandboxConfig, sandboxState } from "./messages/sandbox.ts";
import { type ContainerRuntime, isNotFound } from "./runtime.ts";

export interface RuntimeUnderTest {
  readonly runtime: ContainerRuntime;
  /** An image on the node with a shell, and one that can be pulled but is not there yet. */
  readonly image: string;
  readonly pullable: string;
  /** A folder for logs and mounts. */
  readonly folder: string;
  readonly cgroupRoot: string;
  stop(): Promise<void>;
}

const containerNamespaces = { namespaceOptions: { pid: namespaceMode.container } };
const failsWith =
  (...codes: string[]) =>
  (error: unknown): boolean =>
    error instanceof GrpcError && codes.includes(error.code);

/** Runs the suite on one runtime from `open`. */
export function runtimeContract(name: string, open: () => Promise<RuntimeUnderTest>): void {
  describe(`${name} keeps the contract of a container runtime`, () => {
    let at: RuntimeUnderTest;
    let runtime: ContainerRuntime;
    let pods = 0;
    before(async () => {
      at = await open();
      runtime = at.runtime;
    });
    after(() => at?.stop());

    const sandboxConfig = (): PodSandboxConfig => {
      const uid = `uid-${++pods}`;
      return {
        metadata: { name: `pod-${pods}`, uid, namespace: "contract", attempt: 0 },
        hostname: `pod-${pods}`,
        logDirectory: `${at.folder}/logs/${uid}`,
        labels: { pod: uid, app: "contract" },
        annotations: { note: "kept" },
        linux: { cgroupParent: `${at.cgroupRoot}/${uid}`, securityContext: containerNamespaces },
      };
    };
    const containerConfig = (script: string, more: ContainerConfig = {}): ContainerConfig => ({
      metadata: { name: "main", attempt: 0 },
      image: { image: at.image },
      command: ["sh", "-c", script],
      labels: { container: "main" },
      annotations: { hash: "1" },
      logPath: "main/0.log",
      linux: { securityContext: containerNamespaces },
      ...more,
    });
    const pod = async (): Promise<{ readonly id: string; readonly config: PodSandboxConfig }> => {
      const config = sandboxConfig();
      return { id: await runtime.runPodSandbox(config), config };
    };
    const started = async (
      script: string,
      more: ContainerConfig = {},
    ): Promise<{ readonly sandbox: string; readonly config: PodSandboxConfig; readonly id: string }> => {
      const { id: sandbox, config } = await pod();
      const id = await runtime.createContainer(sandbox, containerConfig(script, more), config);
      await runtime.startContainer(id);
      return { sandbox, config, id };
    };
    const ended = async (id: string): Promise<ContainerStatus> => {
      for (;;) {
        const { status } = await runtime.containerStatus(id);
        if (status.state === containerState.exited) return status;
        await new Promise((resolve) => setTimeout(resolve, 20));
      }
    };
    const remove = async (sandbox: string): Promise<void> => {
      await runtime.stopPodSandbox(sandbox);
      await runtime.removePodSandbox(sandbox);
    };
    const cases: [name: string, run: () => Promise<void>][] = [
      [
        "it speaks version v1 and is ready",
        async () => {
          const { runtimeApiVersion, runtimeName } = await runtime.version();
          assert.equal(runtimeApiVersion, "v1");
          assert.ok(runtimeName);
          const { conditions } = await runtime.status();
          assert.deepEqual(conditions.map(({ type, status }) => `${type} ${status}`).sort(), [
            "NetworkReady true",
            "RuntimeReady true",
          ]);
        },
      ],
      [
        "an image is found by name and by id, and one that is not there is simply absent",
        async () => {
          const { image } = await runtime.imageStatus({ image: at.image });
          assert.ok(image && image.repoTags.includes(at.image));
          assert.ok(Number(image.size) > 0);
          assert.equal((await runtime.imageStatus({ image: image.id })).image?.id, image.id);
          assert.equal((await runtime.imageStatus({ image: "127.0.0.1:1/nothing:1" })).image, undefined);
          assert.ok((await runtime.listImages()).some(({ id }) => id === image.id));
        },
      ],
      [
        "an image is pulled, found, removed, and removed again",
        async () => {
          assert.equal((await runtime.imageStatus({ image: at.pullable })).image, undefined);
          const ref = await runtime.pullImage({ image: at.pullable });
          const { image } = await runtime.imageStatus({ image: at.pullable });
          assert.ok(image && (image.id === ref || image.repoDigests.includes(ref)));
          assert.equal(image.uid?.value, 1000);
          await runtime.removeImage({ image: at.pullable });
          await runtime.removeImage({ image: at.pullable });
          assert.equal((await runtime.imageStatus({ image: at.pullable })).image, undefined);
        },
      ],
      [
        "pulling an image that nobody has fails",
        async () =>
          assert.rejects(
            runtime.pullImage({ image: `${at.pullable}-not` }),
            failsWith("NOT_FOUND", "UNKNOWN", "INTERNAL", "UNAVAILABLE"),
          ),
      ],
      [
        "the file system of images is named",
        async () => {
          const [first] = await runtime.imageFsInfo();
          assert.ok(first?.fsId?.mountpoint.startsWith("/"));
        },
      ],
      [
        "a sandbox is ready with all it was given, and stays stopped when stopped twice",
        async () => {
          const before = Date.now() - 1000;
          const { id, config } = await pod();
          const { status } = await runtime.podSandboxStatus(id);
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
          await runtime.stopPodSandbox(id);
          await runtime.stopPodSandbox(id);
          assert.equal((await runtime.podSandboxStatus(id)).status.state, sandboxState.notReady);
          await runtime.removePodSandbox(id);
          await runtime.removePodSandbox(id);
          await assert.rejects(runtime.podSandboxStatus(id), isNotFound);
        },
      ],
      [
        "a sandbox on the node's network has no address of its own",
        async () => {
          const config = sandboxConfig();
          const linux = {
            ...config.linux,
            securityContext: {
              namespaceOptions: { network: namespaceMode.node, pid: namespaceMode.container },
            },
          };
          const id = await runtime.runPodSandbox({ ...config, hostname: "", linux });
          const { status } = await runtime.podSandboxStatus(id);
          assert.equal(status.network?.ip ?? "", "");
          assert.equal(status.linux?.namespaces?.options?.network, namespaceMode.node);
          await remove(id);
        },
      ],
      [
        "sandboxes are listed by id, state and labels",
        async () => {
          const [one, two] = [await pod(), await pod()];
          await runtime.stopPodSandbox(two.id);
          const ids = async (
            filter: Parameters<ContainerRuntime["listPodSandboxes"]>[0],
          ): Promise<string[]> =>
            (await runtime.listPodSandboxes(filter))
              .map(({ id }) => id)
              .filter((id) => id === one.id || id === two.id);
          assert.deepEqual((await ids(undefined)).sort(), [one.id, two.id].sort());
          assert.deepEqual(await ids({ id: one.id }), [one.id]);
          assert.deepEqual(await ids({ state: { state: sandboxState.notReady } }), [two.id]);
          assert.deepEqual(await ids({ state: { state: sandboxState.ready } }), [one.id]);
          assert.deepEqual(
            await ids({ labelSelector: { app: "contract", pod: one.config.labels!["pod"]! } }),
            [one.id],
          );
          assert.deepEqual(await ids({ labelSelector: { app: "other" } }), []);
          await Promise.all([remove(one.id), remove(two.id)]);
        },
      ],
      [
        "the same sandbox is not made twice, but its next attempt is",
        async () => {
          const { id, config } = await pod();
          await assert.rejects(runtime.runPodSandbox(config), GrpcError);
          const next = await runtime.runPodSandbox({
            ...config,
            metadata: { ...config.metadata, attempt: 1 },
          });
          assert.notEqual(next, id);
          await Promise.all([remove(id), remove(next)]);
        },
      ],
      [
        "a container is created, runs, and ends with its code and times",
        async () => {
          const { id: sandbox, config } = await pod();
          const id = await runtime.createContainer(
            sandbox,
            containerConfig("echo hello; echo trouble >&2; exit 3"),
            config,
          );
          const created = (await runtime.containerStatus(id)).status;
          assert.deepEqual(
            [created.id, created.state, created.labels, created.annotations],
            [id, containerState.created, { container: "main" }, { hash: "1" }],
          );
          assert.equal(created.logPath, `${config.logDirectory}/main/0.log`);
          assert.equal(millisecondsOf(created.startedAt), undefined);
          await runtime.startContainer(id);
          const status = await ended(id);
          assert.deepEqual([status.exitCode, status.reason], [3, "Error"]);
          const [createdAt, startedAt, finishedAt] = [
            status.createdAt,
            status.startedAt,
            status.finishedAt,
          ].map((time) => millisecondsOf(time)!);
          // A container that ends at once may have ended before its start was written down.
          assert.ok(createdAt! <= startedAt! && createdAt! <= finishedAt!);
          const lines = readFileSync(status.logPath, "utf8")
            .trim()
            .split("\n")
            .sort((a, b) => a.split(" ")[1]!.localeCompare(b.split(" ")[1]!));
          assert.equal(lines.length, 2);
          assert.match(lines[0]!, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,9})?\S+ stderr F trouble$/);
          assert.match(lines[1]!, / stdout F hello$/);
          await assert.rejects(runtime.startContainer(id), GrpcError);
          await remove(sandbox);
        },
      ],
      [
        "a container that ends well is completed",
        async () => {
          const { sandbox, id } = await started("true");
          const { exitCode, reason } = await ended(id);
          assert.deepEqual([exitCode, reason], [0, "Completed"]);
          await remove(sandbox);
        },
      ],
      [
        "a program that is not there fails the start",
        async () => {
          const { id: sandbox, config } = await pod();
          const id = await runtime.createContainer(
            sandbox,
            containerConfig("", { command: ["/no/such/program"] }),
            config,
          );
          await assert.rejects(runtime.startContainer(id), GrpcError);
          const status = await ended(id);
          assert.deepEqual([status.exitCode, status.reason], [128, "StartError"]);
          await remove(sandbox);
        },
      ],
      [
        "a container without its image is not made",
        async () => {
          const { id: sandbox, config } = await pod();
          await assert.rejects(
            runtime.createContainer(
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
        "a container that listens ends within its grace period",
        async () => {
          const { sandbox, id } = await started(
            "trap 'exit 0' TERM; echo ready; while true; do sleep 0.05; done",
          );
          await lineIn(id, "ready");
          const before = Date.now();
          await runtime.stopContainer(id, 30);
          assert.ok(Date.now() - before < 20_000);
          assert.equal((await ended(id)).exitCode, 0);
          await runtime.stopContainer(id, 30);
          await remove(sandbox);
        },
      ],
      [
        "a container that does not listen is ended when its grace period is over",
        async () => {
          const { sandbox, id } = await started("trap '' TERM; echo ready; while true; do sleep 0.05; done");
          await lineIn(id, "ready");
          await runtime.stopContainer(id, 1);
          assert.equal((await ended(id)).exitCode, 137);
          await remove(sandbox);
        },
      ],
      [
        "without a grace period a container is ended at once",
        async () => {
          const { sandbox, id } = await started("while true; do sleep 0.05; done");
          await runtime.stopContainer(id, 0);
          assert.equal((await ended(id)).exitCode, 137);
          await remove(sandbox);
        },
      ],
      [
        "a removed container is gone, and gone when removed again",
        async () => {
          const { sandbox, id } = await started("true");
          await ended(id);
          await runtime.removeContainer(id);
          await runtime.removeContainer(id);
          await assert.rejects(runtime.containerStatus(id), isNotFound);
          assert.deepEqual(await runtime.listContainers({ podSandboxId: sandbox }), []);
          await remove(sandbox);
        },
      ],
      [
        "the same container is not made twice, but its next attempt is",
        async () => {
          const { sandbox, config, id } = await started("exit 1");
          await ended(id);
          await assert.rejects(runtime.createContainer(sandbox, containerConfig("true"), config), GrpcError);
          const next = await runtime.createContainer(
            sandbox,
            containerConfig("true", { metadata: { name: "main", attempt: 1 }, logPath: "main/1.log" }),
            config,
          );
          const listed = await runtime.listContainers({ podSandboxId: sandbox });
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
            (await runtime.listContainers(filter))
              .map(({ id }) => id)
              .filter((id) => id === running.id || id === over.id);
          assert.deepEqual((await ids(undefined)).sort(), [running.id, over.id].sort());
          assert.deepEqual(await ids({ id: over.id }), [over.id]);
          assert.deepEqual(await ids({ state: { state: containerState.running } }), [running.id]);
          assert.deepEqual(await ids({ podSandboxId: over.sandbox }), [over.id]);
          assert.deepEqual(await ids({ labelSelector: { container: "other" } }), []);
          const [listed] = await runtime.listContainers({ id: running.id });
          assert.deepEqual(
            [listed!.podSandboxId, listed!.image?.image, listed!.annotations],
            [running.sandbox, at.image, { hash: "1" }],
          );
          await Promise.all([remove(running.sandbox), remove(over.sandbox)]);
        },
      ],
      [
        "stopping a sandbox ends its containers, removing it removes them",
        async () => {
          const { sandbox, id } = await started("while true; do sleep 0.05; done");
          await runtime.stopPodSandbox(sandbox);
          assert.equal((await ended(id)).exitCode, 137);
          await runtime.removePodSandbox(sandbox);
          await assert.rejects(runtime.containerStatus(id), isNotFound);
          assert.deepEqual(await runtime.listContainers({ podSandboxId: sandbox }), []);
        },
      ],
      [
        "a program in a container says, complains and ends",
        async () => {
          const { sandbox, id } = await started("sleep 1000");
          const { stdout, stderr, exitCode } = await runtime.execSync(
            id,
            ["sh", "-c", "echo out; echo err >&2; exit 4"],
            10,
          );
          assert.deepEqual(
            [Buffer.from(stdout).toString(), Buffer.from(stderr).toString(), exitCode],
            ["out\n", "err\n", 4],
          );
          assert.equal((await runtime.execSync(id, ["true"], 0)).exitCode, 0);
          await assert.rejects(runtime.execSync(id, ["sleep", "100"], 1), {
            name: "ExecTimeout",
            message: 'command "sleep 100" timed out',
          });
          await assert.rejects(runtime.execSync(id, ["/no/such/program"], 10), GrpcError);
          assert.equal((await runtime.containerStatus(id)).status.state, containerState.running);
          await remove(sandbox);
          await assert.rejects(runtime.execSync(id, ["true"], 10), isNotFound);
        },
      ],
      [
        "environment and mounts reach the program",
        async () => {
          const mounts = [{ containerPath: "/shared", hostPath: `${at.folder}/logs` }];
          const { sandbox, id } = await started(
            'echo "$GREETING" > /shared/greeting; cat /shared/greeting; sleep 1000',
            {
              envs: [{ key: "GREETING", value: "good day" }],
              mounts,
            },
          );
          await lineIn(id, "good day");
          assert.equal(readFileSync(`${at.folder}/logs/greeting`, "utf8"), "good day\n");
          assert.deepEqual(
            (await runtime.containerStatus(id)).status.mounts.map((mount) => mount.containerPath),
            ["/shared"],
          );
          await remove(sandbox);
        },
      ],
      [
        "streams have addresses while the container runs",
        async () => {
          const { sandbox, id } = await started("sleep 1000");
          for (const url of [
            await runtime.exec({ containerId: id, cmd: ["sh"], stdin: true, stdout: true, stderr: true }),
            await runtime.attach({ containerId: id, stdout: true }),
            await runtime.portForward(sandbox, [80]),
          ])
            assert.match(url, /^http:\/\/127\.0\.0\.1:\d+\//);
          await remove(sandbox);
          await assert.rejects(runtime.exec({ containerId: id, cmd: ["sh"], stdout: true }), GrpcError);
        },
      ],
      [
        "a running container has figures",
        async () => {
          const { sandbox, id } = await started("while true; do sleep 0.01; done");
          const stats = await runtime.containerStats(id);
          assert.equal(stats.attributes?.id, id);
          assert.ok(Number(stats.memory?.workingSetBytes?.value) > 0);
          const used = async (): Promise<number> =>
            Number((await runtime.containerStats(id)).cpu?.usageCoreNanoSeconds?.value ?? 0);
          const first = await used();
          while ((await used()) <= first) await new Promise((resolve) => setTimeout(resolve, 20));
          assert.deepEqual(
            (await runtime.listContainerStats({ podSandboxId: sandbox })).map((one) => one.attributes?.id),
            [id],
          );
          const pods = await runtime.listPodSandboxStats({ id: sandbox });
          assert.deepEqual(
            pods.map((one) => [one.attributes?.id, one.linux?.containers.length]),
            [[sandbox, 1]],
          );
          assert.equal((await runtime.podSandboxStats(sandbox)).attributes?.id, sandbox);
          await remove(sandbox);
        },
      ],
      [
        "resources of a running container change",
        async () => {
          const { sandbox, id } = await started("sleep 1000", {
            linux: {
              securityContext: containerNamespaces,
              resources: { cpuShares: 100, memoryLimitInBytes: 64 << 20 },
            },
          });
          await runtime.updateContainerResources(id, { cpuShares: 200, memoryLimitInBytes: 128 << 20 });
          assert.equal((await runtime.containerStatus(id)).status.state, containerState.running);
          await remove(sandbox);
        },
      ],
      [
        "after its log is moved away a container goes on in a new one",
        async () => {
          const { sandbox, id } = await started("while true; do echo tick; sleep 0.02; done");
          await lineIn(id, "tick");
          const { logPath } = (await runtime.containerStatus(id)).status;
          renameSync(logPath, `${logPath}.old`);
          await runtime.reopenContainerLog(id);
          await lineIn(id, "tick");
          await remove(sandbox);
        },
      ],
      [
        "what is not there is not found",
        async () => {
          const nobody = "0".repeat(64);
          await assert.rejects(runtime.containerStatus(nobody), isNotFound);
          await assert.rejects(runtime.podSandboxStatus(nobody), isNotFound);
          await assert.rejects(runtime.startContainer(nobody), isNotFound);
          await assert.rejects(
            runtime.createContainer(nobody, containerConfig("true"), sandboxConfig()),
            isNotFound,
          );
          await runtime.stopPodSandbox(nobody);
          await runtime.removePodSandbox(nobody);
          await runtime.stopContainer(nobody, 1);
          await runtime.removeContainer(nobody);
        },
      ],
      [
        "a caller that leaves gets its answer at once",
        async () => {
          const { sandbox, id } = await started("sleep 1000");
          const stop = new AbortController();
          const running = runtime.execSync(id, ["sleep", "100"], 0, stop.signal);
          stop.abort(new Error("enough"));
          await assert.rejects(running, failsWith("CANCELLED"));
          await assert.rejects(runtime.version(stop.signal), failsWith("CANCELLED"));
          await remove(sandbox);
        },
      ],
      [
        "many pods at once do not get in each other's way",
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
    const lineIn = async (id: string, text: string): Promise<void> => {
      const { logPath } = (await runtime.containerStatus(id)).status;
      for (;;) {
        try {
          if (
            readFileSync(logPath, "utf8")
              .split("\n")
              .some((line) => line.endsWith(` F ${text}`))
          )
            return;
        } catch {
          // Not there yet.
        }
        await new Promise((resolve) => setTimeout(resolve, 20));
      }
    };
    for (const [title, run] of cases) test(title, { timeout: 60_000 }, run);
  });
}
