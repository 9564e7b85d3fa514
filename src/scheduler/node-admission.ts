// Whether a node that came or changed could take a waiting pod, as far as the node alone tells: pods that it
// could not take are not tried again because of it.
import type { Snapshot } from "./framework.ts";
import type { NodeInfo, SeenPod } from "./node-info.ts";
import { filterNode, viewsOf } from "./placement.ts";
import { nodeAffinity, nodeName, nodePorts, taintToleration } from "./plugins/node.ts";
import { resourcesFit, usualFit } from "./plugins/resources.ts";

const checks = [taintToleration, resourcesFit(usualFit), nodeAffinity(), nodeName, nodePorts];

export const admits = (node: NodeInfo | undefined, pod: SeenPod, snapshot: Snapshot): boolean =>
  node !== undefined && filterNode(viewsOf(pod, snapshot, checks), node) === undefined;
