// Nodes without machines: pods bound to them are reported as running and ready at once and are removed as
// soon as they are deleted. For tests and benchmarks of the control plane.
import { setTimeout as sleep } from "node:timers/promises";
import { ApiError, type ApiClient, informer, kinds } from "#client";

export interface HollowNodes {
  readonly names: readonly string[];
  /** Resolves when all activity has ended after the signal. */
  readonly stopped: Promise<unknown>;
}

export interface HollowNodesOptions {
  readonly client: ApiClient;
  readonly count: number;
  readonly signal: AbortSignal;
  /** Pod capacity of a node. */
  readonly podsEach?: number;
}

const retryMilliseconds = 200;

/** Creates the nodes and manages their pods until the signal is aborted, retrying while the server fails. */
export async function hollowNodes({
  client,
  count,
  signal,
  podsEach = 110,
}: HollowNodesOptions): Promise<HollowNodes> {
  const names = Array.from({ length: count }, (_, at) => `hollow-${at}`);
  const resources = { cpu: "32", memory: "256Gi", pods: String(podsEach) };
  const now = new Date().toISOString().replace(/\.\d+/, "");
  const conditions = [
    { type: "Ready", status: "True", reason: "AgentReady", lastHeartbeatTime: now, lastTransitionTime: now },
  ];
  const nodes = client.of(kinds.nodes);
  for (const name of names) {
    await nodes.create({ metadata: { name, labels: { hollow: "true" } } });
    const status = { capacity: resources, allocatable: resources, conditions };
    await nodes.patch(name, "merge", { status }, { subresource: "status" });
  }
  const pods = client.of(kinds.pods);
  const addresses = new Map<string, string>();
  const working = new Map<string, Promise<void>>();

  /** Retries the action until it succeeds or fails with 404 or 409. */
  const persist = async (action: () => Promise<unknown>): Promise<void> => {
    while (!signal.aborted) {
      try {
        await action();
        return;
      } catch (error) {
        if (error instanceof ApiError && (error.code === 404 || error.code === 409)) return;
        await sleep(retryMilliseconds);
      }
    }
  };
  const begin = (uid: string, action: () => Promise<unknown>): void => {
    const before = working.get(uid) ?? Promise.resolve();
    const after = before
      .then(() => persist(action))
      .finally(() => {
        if (working.get(uid) === after) working.delete(uid);
      });
    working.set(uid, after);
  };
  const addressOf = (uid: string): string => {
    const number = addresses.size + 1;
    const known = addresses.get(uid) ?? `10.${64 + (number >> 16)}.${(number >> 8) & 255}.${number & 255}`;
    addresses.set(uid, known);
    return known;
  };

  const following = informer({
    client: pods,
    signal,
    onEvent: ({ type, object: pod }) => {
      const { name, namespace, uid } = pod.metadata;
      if (type === "deleted" || !pod.spec?.nodeName?.startsWith("hollow-")) return;
      if (pod.metadata.deletionTimestamp)
        begin(uid!, () => pods.delete(name!, { namespace: namespace!, graceSeconds: 0, uid: uid! }));
      else if (pod.status?.phase === "Pending")
        begin(uid!, () =>
          pods.patch(
            name!,
            "strategic",
            { metadata: { uid }, status: runningStatus(pod.spec.containers ?? [], addressOf(uid!)) },
            { namespace: namespace!, subresource: "status" },
          ),
        );
    },
  });
  await following.synced;
  return { names, stopped: following.stopped.then(() => Promise.all(working.values())) };
}

function runningStatus(
  containers: readonly { readonly name: string; readonly image?: string | undefined }[],
  podIP: string,
) {
  const now = new Date().toISOString().replace(/\.\d+/, "");
  return {
    phase: "Running",
    podIP,
    podIPs: [{ ip: podIP }],
    startTime: now,
    conditions: ["Initialized", "Ready", "ContainersReady"].map((type) => ({
      type,
      status: "True",
      lastTransitionTime: now,
    })),
    containerStatuses: containers.map(({ name, image }) => ({
      name,
      image,
      imageID: "",
      ready: true,
      started: true,
      restartCount: 0,
      state: { running: { startedAt: now } },
    })),
  };
}
