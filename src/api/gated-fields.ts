// Fields of later releases are declared with what adds them: a feature gate, or the release itself. Clients know
// all of them; a server leaves out those that it does not have, as if they had never been declared.
import type { Message } from "#schema";
import { rewriter } from "./rewrite.ts";

export const fieldGates = ["PodLifecycleSleepAction", "SidecarContainers"] as const;
export type FieldGate = (typeof fieldGates)[number];

/** What decides which fields of later releases a server has. */
export interface FieldSwitches {
  readonly isOn: (gate: string) => boolean;
  /** The minor release of its expressions. */
  readonly expressionRelease: number;
}

/** Declarations as a server with these switches has them. */
export function gatedFields({
  isOn,
  expressionRelease,
}: FieldSwitches): <M extends Message>(message: M) => M {
  return rewriter({
    key: (key, { more: { gate, since } }) =>
      (gate === undefined || isOn(gate)) && (since === undefined || expressionRelease >= since)
        ? key
        : undefined,
  });
}
