// The agent as a member of the cluster: it receives its pods from the API server once its node is registered.
import type { Service } from "#api";
import { type Informer, informer, kinds } from "#client";
import type { AgentEnvironment } from "./agent-environment.ts";
import type { CsiNode } from "./node/csi-node.ts";
import type { NodeLifecycle } from "./node/node.ts";
import { isDeleted, isFinished, isMirror } from "./pod.ts";
import { apiSource } from "./sources/api-source.ts";
import type { Mirrors } from "./sources/mirrors.ts";
import type { WantedPods } from "./sources/wanted-pods.ts";

export type ServiceInformer = Informer<Service & { apiVersion: string; kind: string }>;

export interface ClusterParts {
  readonly services: ServiceInformer;
  readonly wanted: WantedPods;
}

const servicesTimeoutMilliseconds = 10_000;

/** Watches all services of the cluster. Returns undefined without a client. */
export const followServices = (
  { client, clock }: AgentEnvironment,
  signal: AbortSignal,
): ServiceInformer | undefined =>
  client && informer({ client: client.of(kinds.services), clock, signal, onEvent: () => undefined });

/** Lists the node's pods once, for an agent in run-once mode. */
export async function listPodsOnce(
  { client, clock, log, nodeName, dialect }: AgentEnvironment,
  { services, wanted }: ClusterParts,
  signal: AbortSignal,
): Promise<void> {
  await Promise.race([
    services.synced,
    clock.sleep(servicesTimeoutMilliseconds, signal).catch(() => undefined),
  ]);
  try {
    const { items } = await client!.of(kinds.pods).list({ fieldSelector: `spec.nodeName=${nodeName}` });
    wanted.replace(
      "api",
      items.filter((pod) => !isMirror(pod, dialect) && !isDeleted(pod) && !isFinished(pod)),
    );
  } catch (error) {
    log.error("failed to list pods from the API server", { error: (error as Error).message });
    wanted.replace("api", []);
  }
}

/** Watches the node's pods once the node is registered with the API server. */
export async function joinCluster(
  { joined: client, clock, log, nodeName }: AgentEnvironment,
  {
    services,
    wanted,
    node,
    mirror,
    storage,
  }: ClusterParts & { readonly node: NodeLifecycle; readonly mirror: Mirrors; readonly storage: CsiNode },
  signal: AbortSignal,
): Promise<void> {
  const stopped = new Promise<void>((resolve) => signal.addEventListener("abort", () => resolve()));
  await Promise.race([node.registered.then(() => services.synced), stopped]);
  if (signal.aborted) return;
  const pods = apiSource(
    { client: client!, clock, log, nodeName, wanted, onMirror: (pod, removed) => mirror.seen(pod, removed) },
    signal,
  );
  await Promise.all([storage.ensure(signal), pods.stopped]);
}
