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

type Reduce = <M extends Message>(message: M) => M;
const known = new Map<string, Reduce>();

/**
 * Declarations as a server with these switches has them. Servers with the same switches have the same ones, so
 * that what is derived from them, such as codecs, is made once in a process.
 */
export function gatedFields({ isOn, expressionRelease }: FieldSwitches): Reduce {
  const on = new Set<string>(fieldGates.filter(isOn));
  return known.getOrInsertComputed(`${[...on].join()} ${expressionRelease}`, () =>
    rewriter({
      key: (key, { more: { gate, since } }) =>
        (gate === undefined || on.has(gate)) && (since === undefined || expressionRelease >= since)
          ? key
          : undefined,
    }),
  );
}
