// In-place resize of containers (InPlacePodVerticalScaling): defaults, validation of a change, and the
// proposed status that the node answers.
import { type Container, type Pod, type PodSpec, resizable, equalResources } from "#api";

type Amounts = Readonly<Record<string, string>> | undefined;

/** By default the resources of a running container change without a restart. */
export function resizePolicyDefaults({ containers }: PodSpec): void {
  for (const container of containers ?? []) {
    const policies = container.resizePolicy ?? [];
    const open = resizable.filter(
      (name) =>
        container.resources.requests?.[name] !== undefined &&
        !policies.some(({ resourceName }) => resourceName === name),
    );
    if (open.length > 0)
      container.resizePolicy = [
        ...policies,
        ...open.map((resourceName) => ({ resourceName, restartPolicy: "NotRequired" })),
      ];
  }
}

/** Proposes a change that the node has not yet allocated. */
export function proposeResize(pod: Pod, old: Pod): void {
  const proposed = (pod.spec.containers ?? []).some(({ name, resources }, position) => {
    const before = old.spec.containers?.[position]?.resources;
    if (!resources.requests || !before || sameResources(resources, before)) return false;
    const status = pod.status.containerStatuses?.find((each) => each.name === name);
    return status !== undefined && !equalResources(resources.requests, status.allocatedResources);
  });
  if (proposed) pod.status = { ...pod.status, resize: "Proposed" };
}

const sameResources = (one: Container["resources"], other: Container["resources"]): boolean =>
  equalResources(one.limits, other.limits) && equalResources(one.requests, other.requests);

/** Returns the container with the old CPU and memory resources: any remaining difference is not allowed. */
export function unresized(container: Container, old: Container): Container {
  const { limits, requests } = container.resources;
  const { limits: oldLimits, requests: oldRequests } = old.resources;
  const [keptLimits, keptRequests] = [asBefore(limits, oldLimits), asBefore(requests, oldRequests)];
  return {
    ...container,
    resources: {
      ...(keptLimits && { limits: keptLimits }),
      ...(keptRequests && { requests: keptRequests }),
    },
  };
}

/** As in the reference: where nothing was set before, any value is allowed. */
function asBefore(amounts: Amounts, old: Amounts): Record<string, string> | undefined {
  if (!old) return undefined;
  const kept: Record<string, string> = { ...amounts };
  for (const name of resizable) {
    delete kept[name];
    if (old[name] !== undefined) kept[name] = old[name];
  }
  return kept;
}
