// The interface of resource managers to the topology manager and to pod admission.
import type { Container, Pod } from "#api";
import type { ProviderHints, TopologyHint } from "./numa.ts";

/** The resources of a container cannot be allocated; `reason` is shown in the pod status. */
export class AllocationError extends Error {
  override readonly name = "AllocationError";
  readonly reason: string;
  constructor(message: string, reason = "UnexpectedAdmissionError") {
    super(message);
    this.reason = reason;
  }
}

/**
 * A manager with immutable state: allocation returns a new state, so that it can be tried without undoing.
 * Null hints mean no preference.
 */
export interface HintProvider<State> {
  hints(state: State, pod: Pod, container: Container): ProviderHints | null;
  podHints(state: State, pod: Pod): ProviderHints | null;
  /** Allocates the container's resources. Idempotent. Throws AllocationError. */
  allocate(state: State, pod: Pod, container: Container, hint: TopologyHint): State;
  /** Releases the resources of the pod's containers. */
  release(state: State, podUid: string): State;
}
