// Containers whose resources may change while they run (InPlacePodVerticalScaling): their defaults, what of a
// change is allowed, and the proposal that the node answers.
import { type Container, type Pod, type PodSpec, resizable, sameAmounts } from "#api";

type Amounts = Readonly<Record<string, string>> | undefined;

/** A resource that is requested is changed without a restart unless the pod says otherwise. */
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

/** A change that the node has not given yet is proposed to it. */
export function proposeResize(pod: Pod, old: Pod): void {
  const proposed = (pod.spec.containers ?? []).some(({ name, resources }, position) => {
    const before = old.spec.containers?.[position]?.resources;
    if (!resources.requests || !before || sameResources(resources, before)) return false;
    const status = pod.status.containerStatuses?.find((each) => each.name === name);
    return status !== undefined && !sameAmounts(resources.requests, status.allocatedResources);
  });
  if (proposed) pod.status = { ...pod.status, resize: "Proposed" };
}

const sameResources = (one: Container["resources"], other: Container["resources"]): boolean =>
  sameAmounts(one.limits, other.limits) && sameAmounts(one.requests, other.requests);

/** The container as if its CPU and memory were those of before: what still differs then is not allowed. */
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

/** As the reference compares them: where nothing was said before, anything may be said now. */
function asBefore(amounts: Amounts, old: Amounts): Record<string, string> | undefined {
  if (!old) return undefined;
  const kept: Record<string, string> = { ...amounts };
  for (const name of resizable) {
    delete kept[name];
    if (old[name] !== undefined) kept[name] = old[name];
  }
  return kept;
}
