// Creates the claims of pods' generic ephemeral volumes, owned by the pod.
import type { Counter } from "#base";
import { kinds } from "#client";
import {
  type Controller,
  type ControllerContext,
  controllerOf,
  controllerReference,
  isAlreadyExists,
  isNamespaceTerminating,
  queueFor,
  recorderFor,
} from "#controllerkit";
import type { Volume } from "#api";
import { type SeenPod, isDeleting, isFinished, keyOf, splitKey } from "../pods.ts";

type ClaimTemplate = NonNullable<NonNullable<Volume["ephemeral"]>["volumeClaimTemplate"]>;

export function ephemeralVolumeController(context: ControllerContext): Controller {
  const { client, view } = context;
  const events = recorderFor(context, "ephemeral_volume");
  const resource = client.of(kinds.persistentVolumeClaims);
  const count = (name: string, help: string): Counter =>
    context.metrics.counter({ name, help, stability: "ALPHA" }).with();
  const attempts = count(
    "ephemeral_volume_controller_create_total",
    "Number of requests to create the claim of an ephemeral volume.",
  );
  const failures = count(
    "ephemeral_volume_controller_create_failures_total",
    "Number of failed requests to create the claim of an ephemeral volume.",
  );
  const queue = queueFor(context, "ephemeral_volume", sync);
  const hasEphemeral = ({ spec }: SeenPod): boolean =>
    (spec.volumes ?? []).some(({ ephemeral }) => ephemeral);
  const pods = view.follow(kinds.pods, ({ type, object }) => {
    if (type !== "deleted" && hasEphemeral(object) && !isFinished(object)) queue.add(keyOf(object));
  });
  const claims = view.follow(kinds.persistentVolumeClaims, ({ type, object }) => {
    // A deleted claim is recreated as long as its pod needs it.
    if (type !== "deleted") return;
    for (const { kind, name } of object.metadata.ownerReferences ?? [])
      if (kind === "Pod") queue.add(`${object.metadata.namespace}/${name}`);
  });
  return { stopped: queue.stopped };

  async function sync(key: string): Promise<void> {
    const [namespace, name] = splitKey(key);
    const pod = pods.get(namespace, name);
    if (!pod || isDeleting(pod) || isFinished(pod)) return;
    for (const { name: volume, ephemeral } of pod.spec.volumes ?? []) {
      const template = ephemeral?.volumeClaimTemplate;
      if (!template) continue;
      try {
        await ensureClaim(pod, `${name}-${volume}`, template);
      } catch (error) {
        const text = `ephemeral volume ${volume}: ${(error as Error).message}`;
        events.event(pod, "Warning", "FailedBinding", text);
        throw error;
      }
    }
  }

  async function ensureClaim(pod: SeenPod, name: string, template: ClaimTemplate): Promise<void> {
    const namespace = pod.metadata.namespace!;
    const present = claims.get(namespace, name);
    if (present) {
      if (controllerOf(present)?.uid === pod.metadata.uid) return;
      throw new Error(`PVC ${namespace}/${name} was not created for pod ${keyOf(pod)} (pod is not owner)`);
    }
    const { labels, annotations } = template.metadata ?? {};
    attempts.add();
    try {
      await resource.create({
        metadata: {
          name,
          namespace,
          ...(labels && { labels }),
          ...(annotations && { annotations }),
          ownerReferences: [controllerReference(pod)],
        },
        spec: template.spec,
      });
    } catch (error) {
      failures.add();
      // The informer cache is stale, or the namespace is being deleted together with the pod.
      if (isAlreadyExists(error) || isNamespaceTerminating(error)) return;
      throw new Error(`create PVC ${name}: ${(error as Error).message}`, { cause: error });
    }
  }
}
