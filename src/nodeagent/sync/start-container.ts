// Starts one container: image, environment, mounts, create, start, and the postStart hook.
import { join } from "node:path";
import type { Container, EphemeralContainer, Pod, Secret } from "#api";
import type { PodSandboxConfig } from "#cri";
import { type ObservedContainer, type ObservedPod, latest } from "../containers/observed.ts";
import { errorText } from "../errors.ts";
import { containerConfig } from "../plan/container-config.ts";
import { hostsFile } from "../plan/hosts-file.ts";
import { logFolderOf } from "../plan/sandbox-config.ts";
import { imageUserOf, rootProblem } from "../plan/security.ts";
import { servicesEnvironment, servicesFor } from "../plan/services-env.ts";
import { initContainersOf, isHostNetwork, nameOf, namespaceOf, referenceTo, uidOf } from "../pod.ts";
import type { ContainerContribution, ContainerType, MountedVolume } from "../interfaces.ts";
import type { StartError } from "../status/container-statuses.ts";
import type { PodMemory, SyncContext } from "./context.ts";
import { ConfigError, environment } from "./environment.ts";
import { containerDevices, containerMounts } from "./mounts.ts";
import { nodeHostsText } from "./node-files.ts";
import { logLinkName } from "./log-links.ts";
import { graceFor, stopContainer } from "./stop.ts";

export interface ContainerStart {
  readonly observed: ObservedPod;
  readonly sandboxId: string;
  readonly sandbox: PodSandboxConfig;
  readonly podIps: readonly string[];
  readonly volumes: ReadonlyMap<string, MountedVolume>;
  readonly secrets: readonly Secret[];
}

export type StartOutcome =
  | { readonly started: true; readonly containerId: string }
  | ({ readonly started: false; readonly againMilliseconds?: number } & StartError);

/** Delay until the container is observed again, equal to the relist period. */
const relistMilliseconds = 1000;

export async function startContainer(
  context: SyncContext,
  pod: Pod,
  container: Container | EphemeralContainer,
  facts: ContainerStart,
  memory: PodMemory,
  signal: AbortSignal,
): Promise<StartOutcome> {
  const { runtime, events } = context;
  const recordEvent = (type: "Normal" | "Warning", reason: string, message: string): void =>
    events.event(referenceTo(pod, container.name), type, reason, message);
  const type = containerType(pod, container);
  const failed = (reason: string, message: string): StartOutcome & { readonly started: false } => {
    context.podMetrics?.started(type, reason);
    recordEvent("Warning", "Failed", `Error: ${message}`);
    return { started: false, reason, message };
  };

  const pulledFrom = context.clock.monotonic();
  const image = await context.images.ensure(pod, container, facts.secrets, facts.sandbox, signal);
  context.podMetrics?.pulled(uidOf(pod), context.clock.monotonic() - pulledFrom);
  if (!image.present) {
    context.podMetrics?.started(type, image.reason);
    recordEvent("Warning", "Failed", `Error: ${image.reason}`);
    return {
      started: false,
      reason: image.reason,
      message: image.message,
      ...(image.againMilliseconds !== undefined && { againMilliseconds: image.againMilliseconds }),
    };
  }

  const unstarted = unstartedOf(facts.observed, container);
  const restartCount =
    unstarted?.runtimeLabels.restartCount ?? (await nextAttempt(context, pod, container, facts.observed));
  const user = imageUserOf(image.image);
  const target =
    "targetContainerName" in container && container.targetContainerName
      ? latest(facts.observed, container.targetContainerName)
      : undefined;
  let config;
  try {
    if ("targetContainerName" in container && container.targetContainerName && !target)
      throw new ConfigError(
        `unable to find target container ${JSON.stringify(container.targetContainerName)}`,
      );
    const root = rootProblem(pod, container, user);
    if (root !== undefined) throw new ConfigError(root);
    const variables = await environment(pod, container, {
      objects: context.objects,
      node: context.node,
      podIps: isHostNetwork(pod) ? context.node.hostIps() : facts.podIps,
      services: servicesEnvironment(
        servicesFor(
          namespaceOf(pod),
          pod.spec.enableServiceLinks !== false,
          context.services(),
          context.dialect.data.apiService,
        ),
      ),
      onSkipped: (message) =>
        events.event(referenceTo(pod), "Warning", "InvalidEnvironmentVariableNames", message),
    });
    const hostsText = hostsFile(pod, {
      product: context.dialect.wire.apiTitle,
      clusterDomain: context.settings.clusterDomain,
      podIps: facts.podIps,
      nodeFile: isHostNetwork(pod) ? await nodeHostsText() : "",
    });
    const mounts = await containerMounts(
      context,
      pod,
      container,
      { volumes: facts.volumes, environment: variables, podIps: facts.podIps, hostsText },
      signal,
    );
    const contributions: ContainerContribution[] = [];
    for (const contributor of context.contributors ?? [])
      contributions.push(await contributor.contribute(pod, container, signal));
    config = containerConfig(pod, container, {
      dialect: context.dialect,
      owner: context.settings.owner,
      imageId: image.image.id,
      imageUser: user,
      restartCount,
      environment: variables,
      mounts,
      devices: containerDevices(container, facts.volumes),
      contributions,
      cpu: context.settings.cpu,
      memoryCapacityBytes: context.settings.memoryCapacityBytes,
      hugePageSizes: context.settings.hugePageSizes,
      security: context.settings.security,
      users: facts.sandbox.linux?.securityContext?.namespaceOptions?.usernsOptions,
      groups: facts.sandbox.linux?.securityContext?.supplementalGroups?.map(Number),
      ...(target && { targetId: target.id }),
    });
  } catch (error) {
    signal.throwIfAborted();
    return failed("CreateContainerConfigError", errorText(error));
  }

  let containerId: string;
  try {
    if (unstarted) await runtime.removeContainer(unstarted.id, signal);
    containerId = await runtime.createContainer(facts.sandboxId, config, facts.sandbox, signal);
  } catch (error) {
    signal.throwIfAborted();
    return failed("CreateContainerError", errorText(error));
  }
  recordEvent("Normal", "Created", `Created container ${container.name}`);
  for (const contributor of context.contributors ?? []) contributor.created?.(pod, container, containerId);
  try {
    // Not abortable: an aborted start would look like a container that failed to start.
    await runtime.startContainer(containerId);
  } catch (error) {
    signal.throwIfAborted();
    return { ...failed("RunContainerError", errorText(error)), againMilliseconds: relistMilliseconds };
  }
  recordEvent("Normal", "Started", `Started container ${container.name}`);
  context.podMetrics?.started(type);
  const linked = { pod: nameOf(pod), namespace: namespaceOf(pod), container: container.name, containerId };
  const logPath = join(facts.sandbox.logDirectory ?? "", config.logPath ?? "");
  await context.files.logLinks
    ?.link(logLinkName(linked), logPath)
    .catch((error: Error) => context.log.warn("failed to link container log", { error: error.message }));

  const postStart = container.lifecycle?.postStart;
  if (postStart) {
    try {
      const podIp = (isHostNetwork(pod) ? context.node.hostIps() : facts.podIps)[0] ?? "";
      await context.hooks.run(postStart, { pod, container, containerId, podIp }, signal);
    } catch (error) {
      signal.throwIfAborted();
      // The hook's output is left out of the event, since it may contain secrets.
      recordEvent("Warning", "FailedPostStartHook", "PostStartHook failed");
      const ended = { id: containerId, name: container.name, state: "running" as const };
      const graceSeconds = graceFor(pod, container, "FailedPostStartHook");
      await stopContainer(
        context,
        pod,
        facts.podIps,
        { container: ended, graceSeconds, message: "FailedPostStartHook" },
        memory,
        signal,
      );
      // The container was stopped by the agent itself, which triggers no event, so the retry delay is set
      // here.
      return {
        started: false,
        reason: "PostStartHookError",
        message: errorText(error),
        againMilliseconds: relistMilliseconds,
      };
    }
  }
  return { started: true, containerId };
}

const containerType = (pod: Pod, container: Container | EphemeralContainer): ContainerType =>
  "targetContainerName" in container ||
  pod.spec.ephemeralContainers?.some(({ name }) => name === container.name)
    ? "ephemeral_container"
    : initContainersOf(pod).some(({ name }) => name === container.name)
      ? "init_container"
      : "container";

/**
 * Returns a container that was created but never started, because the response to the create was lost or the
 * start failed: a new container replaces it and takes over its attempt number.
 */
function unstartedOf(observed: ObservedPod, { name }: Container): ObservedContainer | undefined {
  const last = latest(observed, name);
  return last?.state === "created" ? last : undefined;
}

/**
 * Returns one more than the last attempt; if the runtime has no record, the number is derived from the logs
 * on disk.
 */
async function nextAttempt(
  { settings, files }: SyncContext,
  pod: Pod,
  container: Container,
  observed: ObservedPod,
): Promise<number> {
  const last = latest(observed, container.name);
  return (
    1 +
    (last
      ? last.runtimeLabels.restartCount
      : await files.lastLog(join(logFolderOf(pod, settings.logFolder), container.name)))
  );
}
