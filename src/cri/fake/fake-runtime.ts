// An in-memory container runtime: it follows the CRI, runs small programs on a clock, records every call, and
// fails on request.
import { createHash } from "node:crypto";
import { type Clock, systemClock } from "#base";
import { GrpcError } from "#http";
import type { ContainerFilter } from "../messages/container.ts";
import { containerState } from "../messages/container.ts";
import { nanosecondsOf } from "../messages/declarations.ts";
import { type RuntimeCondition, containerEventType } from "../messages/runtime.ts";
import { namespaceMode } from "../messages/common.ts";
import { type ContainerRuntime, ExecTimeout } from "../runtime.ts";
import { Events } from "./events.ts";
import { Faults, losing, orAborted } from "./faults.ts";
import { filesOf } from "./files.ts";
import { type FakeImage, FakeImages } from "./images.ts";
import { Log } from "./log.ts";
import { Process, type Program } from "./program.ts";
import { isKnown, shell } from "./shell.ts";
import { containerStatsView, sandboxStatsView } from "./usage.ts";
import {
  type HeldContainer,
  type HeldSandbox,
  containerStatusView,
  containerView,
  hasLabels,
  imageRefOf,
  isRunning,
  sandboxStatusView,
  sandboxView,
} from "./objects.ts";

export interface FakeRuntimeOptions {
  readonly clock?: Clock;
  /** Images on the node, and images that can be pulled. */
  readonly images?: readonly (string | FakeImage)[];
  readonly offered?: readonly (string | FakeImage)[];
  /** Programs run in place of the container's command, by container name. */
  readonly programs?: Readonly<Record<string, Program>>;
  /** Whether logs and files in mounts are written to disk; otherwise they are kept in memory. */
  readonly touchDisk?: boolean;
  /** Whether the runtime supports events; older versions do not. */
  readonly events?: boolean;
}

/** A recorded call. `method` is the CRI method name, `request` the CRI message. */
export interface RecordedCall {
  readonly method: string;
  readonly request: Readonly<Record<string, unknown>>;
  readonly atMilliseconds: number;
}

export interface FakeRuntime extends ContainerRuntime {
  /** All recorded calls, including read-only ones. */
  readonly calls: RecordedCall[];
  readonly images: FakeImages;
  readonly faults: Faults;
  /** The conditions returned by status(). */
  conditions: RuntimeCondition[];
  /** Returns the URLs for exec(), attach() and portForward(). */
  streamUrl: (kind: "exec" | "attach" | "portforward", request: unknown) => string;
  /** Terminates a container externally, like a crash or an out-of-memory kill. */
  end(containerId: string, exitCode: number, reason?: string): void;
  /** Makes a sandbox not ready together with its containers, like a crash of its process. */
  breakSandbox(sandboxId: string): void;
  /** Returns the lines of a container's log as written. */
  logLines(containerId: string): readonly string[];
  /** Terminates all containers and sandboxes, as after a reboot. */
  reboot(): void;
}

const maxRecordedCalls = 100_000;
const notFound = (what: string, id: string): GrpcError =>
  new GrpcError("NOT_FOUND", `an error occurred when try to find ${what} "${id}": not found`);

export function fakeRuntime(options: FakeRuntimeOptions = {}): FakeRuntime {
  const clock = options.clock ?? systemClock;
  const sandboxes = new Map<string, HeldSandbox>();
  const containers = new Map<string, HeldContainer>();
  const images = new FakeImages();
  const faults = new Faults();
  const events = new Events();
  const calls: RecordedCall[] = [];
  let created = 0;
  const asImage = (image: string | FakeImage): FakeImage =>
    typeof image === "string" ? { name: image } : image;
  for (const image of options.images ?? []) images.add(asImage(image));
  for (const image of options.offered ?? []) images.offer(asImage(image));

  const now = (): bigint => nanosecondsOf(clock.now());
  const newId = (kind: string): string => createHash("sha256").update(`${kind} ${++created}`).digest("hex");
  const called = async (
    method: string,
    request: Readonly<Record<string, unknown>>,
    signal?: AbortSignal,
  ): Promise<void> => {
    calls.push({ method, request: structuredClone(request), atMilliseconds: clock.now() });
    if (calls.length > maxRecordedCalls) calls.shift();
    await faults.pass(method, signal);
  };
  const sandboxOf = (id: string): HeldSandbox => {
    const held = sandboxes.get(id);
    if (!held) throw notFound("sandbox", id);
    return held;
  };
  const containerOf = (id: string): HeldContainer => {
    const held = containers.get(id);
    if (!held) throw notFound("container", id);
    return held;
  };
  const inSandbox = (id: string): HeldContainer[] =>
    [...containers.values()].filter((held) => held.sandbox.id === id);
  const emit = (type: number, sandbox: HeldSandbox, id: string): void => {
    if (options.events === false) return;
    events.emit({
      containerId: id,
      containerEventType: type,
      createdAt: now(),
      podSandboxStatus: sandboxStatusView(sandbox),
      containersStatuses: inSandbox(sandbox.id).map(containerStatusView),
    });
  };

  const finish = (held: HeldContainer, exitCode: number, reason: string, message = ""): void => {
    if (held.state === containerState.exited) return;
    held.log.flush();
    held.log.close();
    Object.assign(held, { state: containerState.exited, exitCode, reason, message, finishedAt: now() });
    held.process?.exit(exitCode);
    emit(containerEventType.stopped, held.sandbox, held.id);
  };
  const end = (
    held: HeldContainer,
    exitCode: number,
    reason = exitCode === 0 ? "Completed" : "Error",
  ): void => {
    if (isRunning(held)) finish(held, exitCode, reason);
  };
  const removeContainer = (held: HeldContainer): void => {
    end(held, 137);
    held.log.close();
    containers.delete(held.id);
    emit(containerEventType.deleted, held.sandbox, held.id);
  };
  const stopSandbox = (held: HeldSandbox): void => {
    for (const container of inSandbox(held.id)) end(container, 137);
    if (held.ready) {
      held.ready = false;
      emit(containerEventType.stopped, held, held.id);
    }
  };
  const processFor = (
    held: HeldContainer,
    argv: readonly string[],
    program: Program,
    print: ConstructorParameters<typeof Process>[1]["print"],
  ): Process => {
    const env = Object.fromEntries((held.config.envs ?? []).map(({ key = "", value = "" }) => [key, value]));
    return new Process(program, {
      clock,
      argv,
      env,
      files: filesOf(held.config.mounts ?? [], options.touchDisk === true, held.files),
      print,
    });
  };
  const matches = (held: HeldContainer, filter: ContainerFilter | undefined): boolean =>
    (!filter?.id || held.id.startsWith(filter.id)) &&
    (!filter?.podSandboxId || held.sandbox.id.startsWith(filter.podSandboxId)) &&
    (!filter?.state || held.state === (filter.state.state ?? 0)) &&
    hasLabels(held.config.labels, filter?.labelSelector);

  const runtime: FakeRuntime = {
    calls,
    images,
    faults,
    conditions: [
      { type: "RuntimeReady", status: true, reason: "", message: "" },
      { type: "NetworkReady", status: true, reason: "", message: "" },
    ],
    streamUrl: (kind) => `http://127.0.0.1:1/${kind}/${++created}`,
    end: (containerId, exitCode, reason) => end(containerOf(containerId), exitCode, reason),
    breakSandbox: (sandboxId) => stopSandbox(sandboxOf(sandboxId)),
    logLines: (containerId) => containerOf(containerId).log.lines,
    reboot: () => {
      for (const held of containers.values()) end(held, 255, "Unknown");
      for (const held of sandboxes.values()) held.ready = false;
      events.cut(new GrpcError("UNAVAILABLE", "the runtime was restarted"));
    },

    version: async (signal) => {
      await called("Version", { version: "0.1.0" }, signal);
      return { version: "0.1.0", runtimeName: "fake", runtimeVersion: "1.0.0", runtimeApiVersion: "v1" };
    },
    status: async (signal) => {
      await called("Status", {}, signal);
      return { conditions: structuredClone(runtime.conditions) };
    },
    updateRuntimeConfig: (runtimeConfig, signal) => called("UpdateRuntimeConfig", { runtimeConfig }, signal),

    runPodSandbox: async (config, runtimeHandler = "", signal) => {
      await called("RunPodSandbox", { config, runtimeHandler }, signal);
      const { name, namespace, uid, attempt = 0 } = config.metadata ?? {};
      const reserved = [...sandboxes.values()].find(
        ({ config: { metadata } }) =>
          metadata?.name === name &&
          metadata?.namespace === namespace &&
          metadata?.uid === uid &&
          (metadata?.attempt ?? 0) === attempt,
      );
      if (reserved)
        throw new GrpcError(
          "UNKNOWN",
          `failed to reserve sandbox name "${name}_${namespace}_${uid}_${attempt}": name is reserved for "${reserved.id}"`,
        );
      const onNode = config.linux?.securityContext?.namespaceOptions?.network === namespaceMode.node;
      const held: HeldSandbox = {
        id: newId("sandbox"),
        config: structuredClone(config),
        runtimeHandler,
        createdAt: now(),
        ip: onNode ? "" : `10.88.${created >> 8}.${created & 255}`,
        ready: true,
      };
      sandboxes.set(held.id, held);
      emit(containerEventType.created, held, held.id);
      emit(containerEventType.started, held, held.id);
      return held.id;
    },
    stopPodSandbox: async (podSandboxId, signal) => {
      await called("StopPodSandbox", { podSandboxId }, signal);
      const held = sandboxes.get(podSandboxId);
      if (held) stopSandbox(held);
    },
    removePodSandbox: async (podSandboxId, signal) => {
      await called("RemovePodSandbox", { podSandboxId }, signal);
      const held = sandboxes.get(podSandboxId);
      if (!held) return;
      stopSandbox(held);
      for (const container of inSandbox(held.id)) removeContainer(container);
      sandboxes.delete(held.id);
      emit(containerEventType.deleted, held, held.id);
    },
    podSandboxStatus: async (podSandboxId, signal) => {
      await called("PodSandboxStatus", { podSandboxId }, signal);
      const status = sandboxStatusView(sandboxOf(podSandboxId));
      return options.events === false
        ? { status, containers: [], timestamp: 0 }
        : { status, containers: inSandbox(podSandboxId).map(containerStatusView), timestamp: now() };
    },
    listPodSandboxes: async (filter, signal) => {
      await called("ListPodSandbox", { filter }, signal);
      return [...sandboxes.values()]
        .filter(
          (held) =>
            (!filter?.id || held.id.startsWith(filter.id)) &&
            (!filter?.state || held.ready === ((filter.state.state ?? 0) === 0)) &&
            hasLabels(held.config.labels, filter?.labelSelector),
        )
        .map(sandboxView);
    },

    createContainer: async (podSandboxId, config, sandboxConfig, signal) => {
      await called("CreateContainer", { podSandboxId, config, sandboxConfig }, signal);
      const sandbox = sandboxOf(podSandboxId);
      if (!sandbox.ready)
        throw new GrpcError(
          "UNKNOWN",
          `failed to create container: sandbox container "${podSandboxId}" is not running`,
        );
      const { name, attempt = 0 } = config.metadata ?? {};
      const reserved = inSandbox(podSandboxId).find(
        ({ config: { metadata } }) => metadata?.name === name && (metadata?.attempt ?? 0) === attempt,
      );
      if (reserved)
        throw new GrpcError(
          "UNKNOWN",
          `failed to reserve container name "${name}_${attempt}": name is reserved for "${reserved.id}"`,
        );
      const image = images.find(config.image);
      if (!image)
        throw new GrpcError(
          "NOT_FOUND",
          `failed to create container: failed to resolve image "${config.image?.image}": not found`,
        );
      const logPath =
        config.logPath && sandbox.config.logDirectory
          ? `${sandbox.config.logDirectory}/${config.logPath}`
          : "";
      const held: HeldContainer = {
        id: newId("container"),
        sandbox,
        config: structuredClone(config),
        image,
        createdAt: now(),
        log: new Log(logPath, { onDisk: options.touchDisk === true, now: () => clock.now() }),
        files: new Map(),
        resources: structuredClone(config.linux?.resources),
        startedAt: 0n,
        finishedAt: 0n,
        state: containerState.created,
        exitCode: 0,
        reason: "",
        message: "",
        process: undefined,
      };
      containers.set(held.id, held);
      emit(containerEventType.created, sandbox, held.id);
      return held.id;
    },
    startContainer: async (containerId, signal) => {
      await called("StartContainer", { containerId }, signal);
      const held = containerOf(containerId);
      if (held.state !== containerState.created)
        throw new GrpcError(
          "UNKNOWN",
          `failed to start container "${containerId}": container is in state ${held.state}, not created`,
        );
      const argv = [...(held.config.command ?? []), ...(held.config.args ?? [])];
      const program = options.programs?.[held.config.metadata?.name ?? ""];
      if (!program && !isKnown(argv)) {
        const message = `failed to create containerd task: failed to create shim task: OCI runtime create failed: exec: ${JSON.stringify(argv[0])}: executable file not found in $PATH: unknown`;
        finish(held, 128, "StartError", message);
        throw new GrpcError("UNKNOWN", message);
      }
      held.log.open();
      held.process = processFor(held, argv, program ?? shell, (stream, text) => held.log.write(stream, text));
      Object.assign(held, { state: containerState.running, startedAt: now() });
      void held.process.ended.then((code) => end(held, code));
      emit(containerEventType.started, held.sandbox, held.id);
    },
    stopContainer: async (containerId, graceSeconds, signal) => {
      await called("StopContainer", { containerId, timeout: graceSeconds }, signal);
      const held = containers.get(containerId);
      if (!held?.process || !isRunning(held)) return;
      held.process.term();
      if (graceSeconds > 0) {
        const stop = new AbortController();
        await orAborted(
          Promise.race([held.process.ended, clock.sleep(graceSeconds * 1000, stop.signal).catch(() => {})]),
          signal,
        ).finally(() => stop.abort());
        // Let the exit be recorded before it is treated as a timeout.
        await Promise.resolve();
      }
      end(held, 137);
    },
    removeContainer: async (containerId, signal) => {
      await called("RemoveContainer", { containerId }, signal);
      const held = containers.get(containerId);
      if (held) removeContainer(held);
    },
    containerStatus: async (containerId, signal) => {
      await called("ContainerStatus", { containerId }, signal);
      return { status: containerStatusView(containerOf(containerId)) };
    },
    listContainers: async (filter, signal) => {
      await called("ListContainers", { filter }, signal);
      return [...containers.values()].filter((held) => matches(held, filter)).map(containerView);
    },
    updateContainerResources: async (containerId, linux, signal) => {
      await called("UpdateContainerResources", { containerId, linux }, signal);
      const held = containerOf(containerId);
      held.resources = { ...held.resources, ...linux };
    },
    reopenContainerLog: async (containerId, signal) => {
      await called("ReopenContainerLog", { containerId }, signal);
      const held = containerOf(containerId);
      if (!isRunning(held)) throw new GrpcError("UNKNOWN", `container ${containerId} is not running`);
      held.log.reopen();
    },
    checkpointContainer: async (containerId, location, timeoutSeconds, signal) => {
      await called("CheckpointContainer", { containerId, location, timeout: timeoutSeconds }, signal);
      containerOf(containerId);
      // Like the most common runtimes.
      throw new GrpcError("UNIMPLEMENTED", "method CheckpointContainer not implemented");
    },

    execSync: async (containerId, command, timeoutSeconds, signal) => {
      await called("ExecSync", { containerId, cmd: [...command], timeout: timeoutSeconds }, signal);
      const held = containerOf(containerId);
      if (!isRunning(held))
        throw new GrpcError("UNKNOWN", `container is in state ${held.state}, not running`);
      if (!isKnown(command))
        throw new GrpcError(
          "UNKNOWN",
          `failed to exec in container: OCI runtime exec failed: exec: ${JSON.stringify(command[0])}: executable file not found in $PATH: unknown`,
        );
      const output = { stdout: "", stderr: "" };
      const process = processFor(held, command, shell, (stream, text) => (output[stream] += text));
      void held.process?.ended.then(() => process.exit(137));
      const stop = new AbortController();
      const timedOut =
        timeoutSeconds > 0
          ? clock.sleep(timeoutSeconds * 1000, stop.signal).then(() => "late" as const)
          : new Promise<never>(() => {});
      timedOut.catch(() => {});
      const outcome = await orAborted(Promise.race([process.ended, timedOut]), signal).finally(() =>
        stop.abort(),
      );
      process.exit(137);
      if (outcome === "late") throw new ExecTimeout(command, timeoutSeconds);
      return { stdout: Buffer.from(output.stdout), stderr: Buffer.from(output.stderr), exitCode: outcome };
    },
    exec: async (request, signal) => {
      await called("Exec", request, signal);
      if (!isRunning(containerOf(request.containerId ?? "")))
        throw new GrpcError("UNKNOWN", "container is not running");
      return runtime.streamUrl("exec", request);
    },
    attach: async (request, signal) => {
      await called("Attach", request, signal);
      if (!isRunning(containerOf(request.containerId ?? "")))
        throw new GrpcError("UNKNOWN", "container is not running");
      return runtime.streamUrl("attach", request);
    },
    portForward: async (podSandboxId, port, signal) => {
      const request = { podSandboxId, port: [...port] };
      await called("PortForward", request, signal);
      if (!sandboxOf(podSandboxId).ready) throw new GrpcError("UNKNOWN", "sandbox container is not running");
      return runtime.streamUrl("portforward", request);
    },

    containerStats: async (containerId, signal) => {
      await called("ContainerStats", { containerId }, signal);
      return containerStatsView(containerOf(containerId), now());
    },
    listContainerStats: async (filter, signal) => {
      await called("ListContainerStats", { filter }, signal);
      return [...containers.values()]
        .filter((held) => isRunning(held) && matches(held, filter))
        .map((held) => containerStatsView(held, now()));
    },
    podSandboxStats: async (podSandboxId, signal) => {
      await called("PodSandboxStats", { podSandboxId }, signal);
      return sandboxStatsView(sandboxOf(podSandboxId), inSandbox(podSandboxId).filter(isRunning), now());
    },
    listPodSandboxStats: async (filter, signal) => {
      await called("ListPodSandboxStats", { filter }, signal);
      const wanted = [...sandboxes.values()].filter(
        (held) =>
          held.ready &&
          (!filter?.id || held.id.startsWith(filter.id)) &&
          hasLabels(held.config.labels, filter?.labelSelector),
      );
      return wanted.map((held) => sandboxStatsView(held, inSandbox(held.id).filter(isRunning), now()));
    },
    listMetricDescriptors: async (signal) => {
      await called("ListMetricDescriptors", {}, signal);
      return [];
    },
    listPodSandboxMetrics: async (signal) => {
      await called("ListPodSandboxMetrics", {}, signal);
      return [];
    },
    containerEvents: async function* (signal) {
      await called("GetContainerEvents", {}, signal);
      if (options.events === false)
        throw new GrpcError("UNIMPLEMENTED", "method GetContainerEvents not implemented");
      yield* events.listen(signal);
    },

    listImages: async (image, signal) => {
      await called("ListImages", { ...(image && { filter: { image } }) }, signal);
      if (!image?.image) return images.list();
      const found = images.find(image);
      return found ? [found] : [];
    },
    imageStatus: async (image, signal) => {
      await called("ImageStatus", { image }, signal);
      return { image: images.find(image) };
    },
    pullImage: async (image, auth, sandboxConfig, signal) => {
      await called("PullImage", { image, auth, sandboxConfig }, signal);
      return imageRefOf(images.pull(image));
    },
    removeImage: async (image, signal) => {
      await called("RemoveImage", { image }, signal);
      images.remove(image);
    },
    imageFsInfo: async (signal) => {
      await called("ImageFsInfo", {}, signal);
      const used = images.list().reduce((sum, image) => sum + Number(image.size), 0);
      return [
        {
          timestamp: now(),
          fsId: { mountpoint: "/var/lib/fake" },
          usedBytes: { value: used },
          inodesUsed: { value: images.list().length },
        },
      ];
    },
    close: () => events.cut(new GrpcError("UNAVAILABLE", "the channel is closed")),
  };
  return losing(runtime, (method) => faults.isLost(method));
}
