// A container runtime behind a socket. Every call has a timeout; read-only calls are retried when the
// connection is lost.
import { type Clock, systemClock } from "#base";
import { GrpcError, grpcChannel } from "#http";
import { type ContainerRuntime, ExecTimeout, isNotFound } from "../runtime.ts";
import { type CriMethod, calls } from "./calls.ts";
import {
  required,
  verifiedConditions,
  verifiedContainer,
  verifiedImage,
  verifiedSandbox,
  verifiedVersion,
} from "./verify.ts";

export interface GrpcRuntimeOptions {
  /** `unix:///path` or `http://host:port`. */
  readonly endpoint: string;
  /** Endpoint of the image service, if it differs. */
  readonly imageEndpoint?: string;
  /** Timeout of an ordinary call. */
  readonly timeoutMilliseconds?: number;
  readonly clock?: Clock;
  readonly maxMessageBytes?: number;
}

interface CallOptions {
  readonly signal?: AbortSignal | undefined;
  /** Milliseconds, or "none": pulling an image may take any time. */
  readonly limit?: number | "none";
  /** The call is read-only and may be repeated. */
  readonly readOnly?: boolean;
}

/** As in the kubelet. */
const defaultMaxMessageBytes = 16 << 20;

/** Creates a runtime client. It connects on the first call. */
export function grpcRuntime(options: GrpcRuntimeOptions): ContainerRuntime {
  const timeout = options.timeoutMilliseconds ?? 120_000;
  const clock = options.clock ?? systemClock;
  const channelTo = (endpoint: string) =>
    grpcChannel({
      endpoints: [endpoint],
      clock,
      maxMessageBytes: options.maxMessageBytes ?? defaultMaxMessageBytes,
      backOff: { firstMilliseconds: 100, maxMilliseconds: 3000 },
    });
  const containers = channelTo(options.endpoint);
  const images =
    options.imageEndpoint && options.imageEndpoint !== options.endpoint
      ? channelTo(options.imageEndpoint)
      : containers;

  const over =
    (channel: typeof containers) =>
    <Q, R>(
      method: CriMethod<Q, R>,
      request: Q,
      { signal, limit = timeout, readOnly = false }: CallOptions = {},
    ): Promise<R> =>
      channel.unary(method, request, {
        repeatable: readOnly,
        ...(signal && { signal }),
        ...(limit !== "none" && { deadlineMilliseconds: limit }),
      });
  const call = over(containers);
  const imageCall = over(images);
  const ask = { readOnly: true } as const;
  const noUrl = "URL is not set";

  return {
    version: async (signal) =>
      verifiedVersion(await call(calls.version, { version: "0.1.0" }, { ...ask, signal })),
    status: async (signal) => {
      const { status } = await call(calls.status, {}, { ...ask, signal });
      return { conditions: verifiedConditions(status?.conditions) };
    },
    updateRuntimeConfig: async (runtimeConfig, signal) =>
      void (await call(calls.updateRuntimeConfig, { runtimeConfig }, { signal })),

    runPodSandbox: async (config, runtimeHandler, signal) => {
      const { podSandboxId } = await call(
        calls.runPodSandbox,
        { config, runtimeHandler },
        { signal, limit: 2 * timeout },
      );
      return required(
        podSandboxId,
        `PodSandboxId is not set for sandbox ${JSON.stringify(config.metadata ?? {})}`,
      );
    },
    stopPodSandbox: (podSandboxId, signal) =>
      ignoreNotFound(call(calls.stopPodSandbox, { podSandboxId }, { signal })),
    removePodSandbox: (podSandboxId, signal) =>
      ignoreNotFound(call(calls.removePodSandbox, { podSandboxId }, { signal })),
    podSandboxStatus: async (podSandboxId, signal) => {
      const { status, containersStatuses, timestamp } = await call(
        calls.podSandboxStatus,
        { podSandboxId },
        { ...ask, signal },
      );
      return {
        status: verifiedSandbox(status),
        containers: containersStatuses,
        timestamp,
      };
    },
    listPodSandboxes: async (filter, signal) =>
      (await call(calls.listPodSandbox, { filter }, { ...ask, signal })).items,

    createContainer: async (podSandboxId, config, sandboxConfig, signal) => {
      const { containerId } = await call(
        calls.createContainer,
        { podSandboxId, config, sandboxConfig },
        { signal },
      );
      return required(
        containerId,
        `ContainerId is not set for container ${JSON.stringify(config.metadata ?? {})}`,
      );
    },
    startContainer: async (containerId, signal) =>
      void (await call(calls.startContainer, { containerId }, { signal })),
    stopContainer: (containerId, graceSeconds, signal) =>
      ignoreNotFound(
        call(
          calls.stopContainer,
          { containerId, timeout: graceSeconds },
          { signal, limit: timeout + graceSeconds * 1000 },
        ),
      ),
    removeContainer: (containerId, signal) =>
      ignoreNotFound(call(calls.removeContainer, { containerId }, { signal })),
    containerStatus: async (containerId, signal) => {
      const { status } = await call(calls.containerStatus, { containerId }, { ...ask, signal });
      return { status: verifiedContainer(status) };
    },
    listContainers: async (filter, signal) =>
      (await call(calls.listContainers, { filter }, { ...ask, signal })).containers,
    updateContainerResources: async (containerId, linux, signal) =>
      void (await call(calls.updateContainerResources, { containerId, linux }, { signal })),
    reopenContainerLog: async (containerId, signal) =>
      void (await call(calls.reopenContainerLog, { containerId }, { signal })),
    checkpointContainer: async (containerId, location, timeoutSeconds, signal) => {
      const seconds = Math.max(timeoutSeconds, timeout / 1000);
      await call(
        calls.checkpointContainer,
        { containerId, location, timeout: seconds },
        { signal, limit: seconds * 1000 },
      );
    },

    execSync: async (containerId, command, timeoutSeconds, signal) => {
      const limit = timeoutSeconds > 0 ? timeout + timeoutSeconds * 1000 : "none";
      try {
        return await call(
          calls.execSync,
          { containerId, cmd: [...command], timeout: Math.ceil(timeoutSeconds) },
          { signal, limit },
        );
      } catch (error) {
        throw error instanceof GrpcError && error.code === "DEADLINE_EXCEEDED"
          ? new ExecTimeout(command, timeoutSeconds, error)
          : error;
      }
    },
    exec: async (request, signal) => required((await call(calls.exec, request, { signal })).url, noUrl),
    attach: async (request, signal) => required((await call(calls.attach, request, { signal })).url, noUrl),
    portForward: async (podSandboxId, ports, signal) =>
      required((await call(calls.portForward, { podSandboxId, port: [...ports] }, { signal })).url, noUrl),

    containerStats: async (containerId, signal) =>
      requiredStats(
        (await call(calls.containerStats, { containerId }, { ...ask, signal })).stats,
        `runtime returned no stats for container ${containerId}`,
      ),
    listContainerStats: async (filter, signal) =>
      (await call(calls.listContainerStats, { filter }, { ...ask, signal, limit: 2 * timeout })).stats,
    podSandboxStats: async (podSandboxId, signal) =>
      requiredStats(
        (await call(calls.podSandboxStats, { podSandboxId }, { ...ask, signal })).stats,
        `runtime returned no stats for sandbox ${podSandboxId}`,
      ),
    listPodSandboxStats: async (filter, signal) =>
      (await call(calls.listPodSandboxStats, { filter }, { ...ask, signal })).stats,
    listMetricDescriptors: async (signal) =>
      (await call(calls.listMetricDescriptors, {}, { ...ask, signal })).descriptors,
    listPodSandboxMetrics: async (signal) =>
      (await call(calls.listPodSandboxMetrics, {}, { ...ask, signal })).podMetrics,
    containerEvents: (signal) => containers.serverStream(calls.getContainerEvents, {}, { signal }),

    listImages: async (image, signal) =>
      (await imageCall(calls.listImages, { ...(image && { filter: { image } }) }, { ...ask, signal })).images,
    imageStatus: async (image, signal) => {
      const found = await imageCall(calls.imageStatus, { image }, { ...ask, signal });
      return { image: verifiedImage(found.image, image.image) };
    },
    pullImage: async (image, auth, sandboxConfig, signal) => {
      const { imageRef } = await imageCall(
        calls.pullImage,
        { image, auth, sandboxConfig },
        { signal, limit: "none" },
      );
      return required(imageRef, `imageRef of image ${JSON.stringify(image.image ?? "")} is not set`);
    },
    removeImage: (image, signal) => ignoreNotFound(imageCall(calls.removeImage, { image }, { signal })),
    imageFsInfo: async (signal) =>
      (await imageCall(calls.imageFsInfo, {}, { ...ask, signal, limit: 2 * timeout })).imageFilesystems,

    close: () => {
      containers.close();
      images.close();
    },
  };
}

/**
 * Ignores "not found" errors: some runtimes return them when stopping or removing a missing object, others do
 * not.
 */
async function ignoreNotFound(ending: Promise<unknown>): Promise<void> {
  try {
    await ending;
  } catch (error) {
    if (!isNotFound(error)) throw error;
  }
}

function requiredStats<T>(value: T | undefined, otherwise: string): T {
  if (value === undefined) throw new GrpcError("INTERNAL", otherwise);
  return value;
}
