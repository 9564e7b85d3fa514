// Reports whether a node that was added or changed could run a waiting pod, based on the node alone. Pods for
// which it could not are not requeued.
import type { Snapshot } from "./framework.ts";
import type { NodeInfo, SeenPod } from "./node-info.ts";
import { filterNode, viewsOf } from "./placement.ts";
import { nodeAffinity, nodeName, nodePorts, taintToleration } from "./plugins/node.ts";
import { resourcesFit, defaultFit } from "./plugins/resources.ts";

const checks = [taintToleration, resourcesFit(defaultFit), nodeAffinity(), nodeName, nodePorts];

export const admits = (node: NodeInfo | undefined, pod: SeenPod, snapshot: Snapshot): boolean =>
  node !== undefined && filterNode(viewsOf(pod, snapshot, checks), node) === undefined;
