// What a manager of node resources offers the topology manager and the admission of pods.
import type { Container, Pod } from "#api";
import type { ProviderHints, TopologyHint } from "./numa.ts";

/** A container that cannot have what it asks for; the reason is what the pod's status shows. */
export class AllocationError extends Error {
  override readonly name = "AllocationError";
  readonly reason: string;
  constructor(message: string, reason = "UnexpectedAdmissionError") {
    super(message);
    this.reason = reason;
  }
}

/**
 * One manager over an immutable state: allocation gives a new state, so that a trial costs nothing. Null
 * hints are no preference.
 */
export interface HintProvider<State> {
  hints(state: State, pod: Pod, container: Container): ProviderHints | null;
  podHints(state: State, pod: Pod): ProviderHints | null;
  /** Safe to call again for what is allocated already. Throws AllocationError. */
  allocate(state: State, pod: Pod, container: Container, hint: TopologyHint): State;
  /** Gives back what the pod's containers had. */
  release(state: State, podUid: string): State;
}
