// Sidecars are init containers that are restarted (`restartPolicy: Always`) and keep running alongside the
// containers started after them. They affect the resources that a pod needs at a time.
import type { Container } from "./container.ts";
import type { PodSpec } from "./pod.ts";

type Containers = Pick<PodSpec, "containers" | "initContainers">;

export const isSidecar = ({ restartPolicy }: Pick<Container, "restartPolicy">): boolean =>
  restartPolicy === "Always";

/** Returns the containers that run once the pod has started: regular containers, then sidecars. */
export const runningContainers = ({ initContainers, containers }: Containers): readonly Container[] => {
  const sidecars = initContainers?.filter(isSidecar) ?? [];
  return sidecars.length > 0 ? [...(containers ?? []), ...sidecars] : (containers ?? []);
};

/** Arithmetic for one type of amount. */
export interface Arithmetic<A> {
  readonly none: A;
  readonly sum: (a: A, b: A) => A;
  readonly larger: (a: A, b: A) => A;
}

export const numbers: Arithmetic<number> = { none: 0, sum: (a, b) => a + b, larger: Math.max };

/**
 * Returns the most that the containers of a pod need at one time. Init containers run one by one, each along
 * with
 * the sidecars before it; then all regular containers run along with all sidecars.
 *
 *   init 4, sidecar 1, init 2, containers 1 and 1   →   the largest of 4, 1, 1 + 2 and 1 + 1 + 1
 */
export function peakUsage<A>(
  { initContainers, containers }: Containers,
  of: (container: Container) => A,
  { none, sum, larger }: Arithmetic<A>,
): A {
  let [beside, before] = [none, none];
  for (const container of initContainers ?? []) {
    const now = sum(beside, of(container));
    if (isSidecar(container)) beside = now;
    before = larger(before, now);
  }
  return larger((containers ?? []).map(of).reduce(sum, beside), before);
}
