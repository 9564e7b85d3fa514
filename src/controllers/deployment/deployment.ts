// Deployment: manages replica sets of one template and replaces them gradually.
import { kinds } from "#client";
import {
  type Controller,
  type ControllerContext,
  claim,
  controllerOf,
  queueFor,
  recorderFor,
  selects,
} from "#controllerkit";
import { isFinished, keyOf, splitKey } from "../pods.ts";
import { type SeenDeployment, type SeenReplicaSet, byAge } from "./rollout.ts";
import { rolloutSteps } from "./steps.ts";

export function deploymentController(context: ControllerContext): Controller {
  const { client, clock, view, dialect } = context;
  const events = recorderFor(context, "deployment-controller");
  const deploymentClient = client.of(kinds.deployments);
  const setClient = client.of(kinds.replicaSets);
  const steps = rolloutSteps({ deployments: deploymentClient, sets: setClient, clock, dialect, events });
  const queue = queueFor(context, "deployment", sync);
  const deployments = view.follow(kinds.deployments, ({ object }) => queue.add(keyOf(object)));
  const sets = view.follow(kinds.replicaSets, (event) => {
    const { object } = event;
    const owner = ownerOf(object);
    if (event.type === "updated") {
      const before = ownerOf(event.old);
      if (before && before !== owner) queue.add(keyOf(before));
    }
    if (owner) queue.add(keyOf(owner));
    else if (!controllerOf(object) && event.type !== "deleted")
      for (const each of deployments.inNamespace(object.metadata.namespace ?? ""))
        if (selects(each.spec.selector, object.metadata.labels)) queue.add(keyOf(each));
  });
  // The Recreate strategy waits until the last old pod is deleted.
  const pods = view.follow(kinds.pods, ({ type, object }) => {
    if (type !== "deleted" && !isFinished(object)) return;
    const reference = controllerOf(object);
    if (reference?.kind !== "ReplicaSet") return;
    const set = sets.get(object.metadata.namespace, reference.name);
    const owner = set && ownerOf(set);
    if (owner && owner.spec.strategy.type === "Recreate") queue.add(keyOf(owner));
  });
  const orphans = sets.index("orphans", (set) => (controllerOf(set) ? [] : [set.metadata.namespace ?? ""]));
  return { stopped: queue.stopped };

  function ownerOf(set: SeenReplicaSet): SeenDeployment | undefined {
    const reference = controllerOf(set);
    if (reference?.kind !== "Deployment") return undefined;
    const owner = deployments.get(set.metadata.namespace, reference.name);
    return owner?.metadata.uid === reference.uid ? owner : undefined;
  }

  async function sync(key: string): Promise<{ requeueAfterMilliseconds: number } | void> {
    const [namespace, name] = splitKey(key);
    const deployment = deployments.get(namespace, name);
    if (!deployment) return;
    const { matchLabels, matchExpressions } = deployment.spec.selector ?? {};
    if (!Object.keys(matchLabels ?? {}).length && !matchExpressions?.length) {
      const text = "This deployment is selecting all pods. A non-empty selector is required.";
      events.event(deployment, "Warning", "SelectingAll", text);
      return;
    }
    const mine = await claim([...sets.controlledBy(deployment.metadata.uid!), ...orphans(namespace)], {
      owner: deployment,
      matches: ({ metadata }) => selects(deployment.spec.selector, metadata.labels),
      resource: setClient,
      freshOwner: () => deploymentClient.get(name, { namespace }),
    });
    return await steps.sync(deployment, mine.toSorted(byAge), (set) =>
      pods.controlledBy(set.metadata.uid!).some((pod) => !isFinished(pod)),
    );
  }
}
