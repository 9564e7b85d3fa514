// Executes the volume decisions for a pod before it is bound, and waits until its claims are bound.
import type { Clock } from "#base";
import { type ApiClient, kinds } from "#client";
import { type SeenVolume, isConflict, patchObject } from "#controllerkit";
import type { NodeInfo, SeenPod } from "../node-info.ts";
import { type VolumeDecision, canReach } from "./volume-plugins.ts";
import type { VolumeView } from "./volume-view.ts";

const timeoutMilliseconds = 10 * 60_000;
const pollMilliseconds = 100;

export interface BindVolumesOptions {
  readonly client: ApiClient;
  readonly clock: Clock;
  readonly signal: AbortSignal;
  readonly volumes: VolumeView;
  readonly nodes: ReadonlyMap<string, NodeInfo>;
  /** Reports whether the pod still exists: binding is given up otherwise. */
  readonly isPresent: () => boolean;
}

export async function bindVolumes(
  { client, clock, signal, volumes, nodes, isPresent }: BindVolumesOptions,
  pod: SeenPod,
  nodeName: string,
  { bind, provision }: VolumeDecision,
): Promise<void> {
  const { annotations } = client.dialect.names;
  const namespace = pod.metadata.namespace!;
  for (const { claim: name, volume: volumeName } of bind) {
    const claim = volumes.claim(namespace, name);
    const volume = volumes.volume(volumeName);
    if (!claim || !volume) throw new Error(`volume ${volumeName} or claim ${name} is gone`);
    const { apiVersion, kind, metadata } = claim;
    const claimRef = {
      apiVersion,
      kind,
      namespace,
      name,
      uid: metadata.uid!,
      resourceVersion: metadata.resourceVersion!,
    };
    const isOurs = ({ spec }: SeenVolume): boolean => spec.claimRef?.uid === metadata.uid;
    if (isOurs(volume)) continue;
    const resource = client.of(kinds.persistentVolumes);
    try {
      await patchObject(
        resource,
        volume,
        { metadata: { annotations: { [annotations.boundByController]: "yes" } }, spec: { claimRef } },
        { ifUnchanged: true },
      );
    } catch (error) {
      // Another pod with the same claim may have been faster.
      if (!isConflict(error) || !isOurs(await resource.get(volumeName))) throw error;
    }
  }
  for (const name of provision) {
    const claim = volumes.claim(namespace, name);
    if (!claim) throw new Error(`claim ${name} is gone`);
    await patchObject(client.of(kinds.persistentVolumeClaims), claim, {
      metadata: { annotations: { [annotations.selectedNode]: nodeName } },
    });
  }
  const names = [...bind.map(({ claim }) => claim), ...provision];
  /** Claims that have been observed with the node selected above. */
  const selected = new Set<string>();
  const isBound = (name: string, node: NodeInfo): boolean => {
    const claim = volumes.claim(namespace, name);
    if (!claim) throw new Error(`claim ${name} is gone`);
    if (claim.metadata.annotations?.[annotations.selectedNode] === nodeName) selected.add(name);
    // A provisioner that cannot serve the node removes the annotation, so that another node is chosen.
    else if (selected.has(name)) throw new Error(`provisioning failed for PVC ${JSON.stringify(name)}`);
    const volume = volumes.volume(claim.spec.volumeName ?? "");
    // The claim may have been bound to another volume than the chosen one.
    if (volume && !canReach(node, volume)) {
      const [pv, where] = [volume.metadata.name, nodeName].map((each) => JSON.stringify(each));
      throw new Error(`pv ${pv} node affinity doesn't match node ${where}`);
    }
    return Boolean(volume && claim.metadata.annotations?.[annotations.bindCompleted]);
  };
  for (const end = clock.monotonic() + timeoutMilliseconds; ;) {
    const node = nodes.get(nodeName);
    if (!node) throw new Error(`node ${JSON.stringify(nodeName)} not found`);
    if (!isPresent()) throw new Error("pod does not exist any more");
    if (names.every((name) => isBound(name, node))) return;
    if (clock.monotonic() > end)
      throw new Error(`timed out waiting for the claims of pod ${pod.metadata.name} to be bound`);
    await clock.sleep(pollMilliseconds, signal);
  }
}
