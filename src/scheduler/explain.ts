// Explains why a pod is not scheduled: all reasons of all nodes, not only the first one the scheduler finds.
import type { Clock, Log } from "#base";
import { type ApiClient, kinds } from "#client";
import { clusterView, orUndefined } from "#controllerkit";
import { defaultGates } from "#options";
import { ClusterCache } from "./cluster-cache.ts";
import { viewsOf } from "./placement.ts";
import { defaultPlugins } from "./profile.ts";
import { snapshotSource } from "./snapshot.ts";
import { volumeView } from "./volumes/volume-view.ts";

export interface ExplainOptions {
  readonly client: ApiClient;
  readonly clock: Clock;
  readonly log: Log;
}

export type Explanation =
  | { readonly state: "absent" }
  | { readonly state: "placed"; readonly node: string }
  | { readonly state: "gated"; readonly gates: readonly string[] }
  | {
      readonly state: "waiting";
      /** Reasons that apply to every node. */
      readonly forAll: readonly string[];
      readonly byNode: ReadonlyMap<string, readonly string[]>;
      /** Message of the PodScheduled condition. */
      readonly message: string | undefined;
    };

export async function explainPod(
  { client, clock, log }: ExplainOptions,
  namespace: string,
  name: string,
): Promise<Explanation> {
  const pod = await orUndefined(client.of(kinds.pods).get(name, { namespace }));
  if (!pod) return { state: "absent" };
  if (pod.spec.nodeName) return { state: "placed", node: pod.spec.nodeName };
  const gates = (pod.spec.schedulingGates ?? []).map((gate) => gate.name);
  if (gates.length > 0) return { state: "gated", gates };
  const stopping = new AbortController();
  const view = clusterView({ client, clock, signal: stopping.signal, log });
  try {
    const cache = new ClusterCache();
    view.follow(kinds.pods, ({ type, object }) => {
      if (type !== "deleted") cache.setPod(object);
    });
    view.follow(kinds.nodes, ({ type, object }) => {
      if (type !== "deleted") cache.setNode(object);
    });
    const volumes = volumeView(view, () => undefined);
    const snapshot = snapshotSource(view, cache, volumes, {
      dialect: client.dialect,
      gates: defaultGates,
    })();
    await view.synced();
    const views = viewsOf(pod, snapshot, defaultPlugins);
    const byNode = new Map<string, readonly string[]>();
    for (const node of snapshot.nodes.values())
      byNode.set(
        node.name,
        views.flatMap((each) => each.filter?.(node)?.reasons ?? []),
      );
    const condition = pod.status.conditions?.find(({ type }) => type === "PodScheduled");
    return {
      state: "waiting",
      forAll: views.flatMap(({ rejectsPod }) => rejectsPod?.reasons ?? []),
      byNode,
      message: condition?.message,
    };
  } finally {
    stopping.abort();
    await view.stopped();
  }
}
