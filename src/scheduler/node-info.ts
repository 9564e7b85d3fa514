// Scheduler state of one node: its pods and their running totals, so that the cost per pod does not depend on
// their number.
import type { Node, Pod } from "#api";
import type { AnyObject } from "#client";
import { type Amounts, type HostPort, amountsOf, resourcesOf } from "./requests.ts";

export type SeenPod = Pod & AnyObject;
export type SeenNode = Node & AnyObject;

export const hasAffinity = ({ spec }: Pod): boolean =>
  Boolean(spec.affinity?.podAffinity || spec.affinity?.podAntiAffinity);
export const hasRequiredAntiAffinity = ({ spec }: Pod): boolean =>
  Boolean(spec.affinity?.podAntiAffinity?.requiredDuringSchedulingIgnoredDuringExecution?.length);

export class NodeInfo {
  readonly node: SeenNode;
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly allocatable: Amounts;
  readonly pods = new Map<string, SeenPod>();
  readonly requested: Record<string, number> = {};
  /** Requested resources, with default requests for containers that specify none. */
  readonly nonZeroRequested: Record<string, number> = {};
  readonly hostPorts = new Map<string, HostPort>();
  readonly withAffinity = new Set<SeenPod>();
  readonly withAntiAffinity = new Set<SeenPod>();

  constructor(node: SeenNode, pods: Iterable<SeenPod> = []) {
    this.node = node;
    this.name = node.metadata.name!;
    this.labels = node.metadata.labels ?? {};
    this.allocatable = amountsOf(node.status.allocatable);
    for (const pod of pods) this.add(pod);
  }

  add(pod: SeenPod): void {
    const uid = pod.metadata.uid!;
    if (this.pods.has(uid)) this.remove(uid);
    this.pods.set(uid, pod);
    this.#sum(pod, 1);
    for (const [index, port] of resourcesOf(pod).hostPorts.entries())
      this.hostPorts.set(`${uid}/${index}`, port);
    if (hasAffinity(pod)) this.withAffinity.add(pod);
    if (hasRequiredAntiAffinity(pod)) this.withAntiAffinity.add(pod);
  }

  remove(uid: string): boolean {
    const pod = this.pods.get(uid);
    if (!pod) return false;
    this.pods.delete(uid);
    this.#sum(pod, -1);
    for (const index of resourcesOf(pod).hostPorts.keys()) this.hostPorts.delete(`${uid}/${index}`);
    this.withAffinity.delete(pod);
    this.withAntiAffinity.delete(pod);
    return true;
  }

  #sum(pod: SeenPod, sign: number): void {
    const { requests, nonZeroRequests } = resourcesOf(pod);
    for (const [name, amount] of Object.entries(requests))
      this.requested[name] = (this.requested[name] ?? 0) + sign * amount;
    for (const [name, amount] of Object.entries(nonZeroRequests))
      this.nonZeroRequested[name] = (this.nonZeroRequested[name] ?? 0) + sign * amount;
  }

  /** Returns a copy for simulations. */
  clone(): NodeInfo {
    return new NodeInfo(this.node, this.pods.values());
  }
}
