// Claims to be expanded: expansion is left to external controllers, and an event says so.
import { compareQuantity, parseQuantity } from "#base";
import { kinds } from "#client";
import {
  type Controller,
  type ControllerContext,
  type SeenClaim,
  queueFor,
  recorderFor,
} from "#controllerkit";
import { keyOf, splitKey } from "../pods.ts";

/** Reports whether a bound claim requests more storage than it has. */
export function needsExpansion({ spec, status }: SeenClaim): boolean {
  const [wanted, current] = [spec.resources.requests?.["storage"], status.capacity?.["storage"]];
  if (status.phase !== "Bound" || wanted === undefined || current === undefined) return false;
  return compareQuantity(parseQuantity(wanted), parseQuantity(current)) > 0;
}

export function volumeExpanderController(context: ControllerContext): Controller {
  const { view } = context;
  const events = recorderFor(context, "volume_expand");
  const queue = queueFor(context, "volume_expand", sync);
  const claims = view.follow(kinds.persistentVolumeClaims, (event) => {
    const { object } = event;
    const isNew =
      event.type === "added" ||
      (event.type === "updated" &&
        event.old.spec.resources.requests?.["storage"] !== object.spec.resources.requests?.["storage"]);
    if (event.type !== "deleted" && isNew && needsExpansion(object)) queue.add(keyOf(object));
  });
  const volumes = view.follow(kinds.persistentVolumes);
  return { stopped: queue.stopped };

  async function sync(key: string): Promise<void> {
    const [namespace, name] = splitKey(key);
    const claim = claims.get(namespace, name);
    if (!claim || !needsExpansion(claim) || !volumes.get(undefined, claim.spec.volumeName ?? "")) return;
    const text = "waiting for an external controller to expand this PVC";
    events.event(claim, "Warning", "ExternalExpanding", text);
    await Promise.resolve();
  }
}
