// Makes the claims of pods' ephemeral volumes; they go with the pod.
import { kinds } from "#client";
import {
  type Controller,
  type ControllerContext,
  controllerReference,
  isAlreadyExists,
  isNamespaceTerminating,
  queueFor,
  recorderFor,
} from "#controllerkit";
import { type SeenPod, isDeleting, isFinished, keyOf, splitKey } from "../pods.ts";

export function ephemeralVolumeController(context: ControllerContext): Controller {
  const { client, view } = context;
  const events = recorderFor(context, "ephemeral_volume");
  const resource = client.of(kinds.persistentVolumeClaims);
  const queue = queueFor(context, "ephemeral_volume", sync);
  const hasEphemeral = ({ spec }: SeenPod): boolean =>
    (spec.volumes ?? []).some(({ ephemeral }) => ephemeral);
  const pods = view.follow(kinds.pods, ({ type, object }) => {
    if (type !== "deleted" && hasEphemeral(object) && !isFinished(object)) queue.add(keyOf(object));
  });
  const claims = view.follow(kinds.persistentVolumeClaims, ({ type, object }) => {
    // A deleted claim is made anew as long as its pod needs it.
    if (type !== "deleted") return;
    for (const { kind, name } of object.metadata.ownerReferences ?? [])
      if (kind === "Pod") queue.add(`${object.metadata.namespace}/${name}`);
  });
  return { stopped: queue.stopped };

  async function sync(key: string): Promise<void> {
    const [namespace, name] = splitKey(key);
    const pod = pods.get(namespace, name);
    if (!pod || isDeleting(pod) || isFinished(pod)) return;
    for (const volume of pod.spec.volumes ?? []) {
      const template = volume.ephemeral?.volumeClaimTemplate;
      if (!template) continue;
      const claimName = `${name}-${volume.name}`;
      const present = claims.get(namespace, claimName);
      if (present) {
        if (present.metadata.ownerReferences?.some(({ uid }) => uid === pod.metadata.uid)) continue;
        throw new Error(`PVC ${namespace}/${claimName} was not created for pod ${key} (pod is not owner)`);
      }
      const { labels, annotations } = template.metadata ?? {};
      try {
        await resource.create({
          metadata: {
            name: claimName,
            namespace,
            ...(labels && { labels }),
            ...(annotations && { annotations }),
            ownerReferences: [controllerReference(pod)],
          },
          spec: template.spec,
        });
      } catch (error) {
        if (isAlreadyExists(error) || isNamespaceTerminating(error)) continue;
        const text = `ephemeral volume ${volume.name}: create PVC: ${(error as Error).message}`;
        events.event(pod, "Warning", "EphemeralVolumeCreateFailed", text);
        throw error;
      }
    }
  }
}
