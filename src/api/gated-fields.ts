// Fields and values of later releases are declared with what adds them: a feature gate, or the release
// itself. Clients know all of them; a server omits those it does not have, as if they had never been
// declared.
import type { Message } from "#schema";
import { rewriter } from "./rewrite.ts";

export const fieldGates = [
  "AppArmorFields",
  "AuthorizeWithSelectors",
  "CustomResourceFieldSelectors",
  "JobBackoffLimitPerIndex",
  "JobManagedBy",
  "JobPodReplacementPolicy",
  "JobSuccessPolicy",
  "LoadBalancerIPMode",
  "MatchLabelKeysInPodAffinity",
  "PersistentVolumeLastPhaseTransitionTime",
  "PodHostIPs",
  "PodLifecycleSleepAction",
  "ServiceTrafficDistribution",
  "SidecarContainers",
] as const;
export type FieldGate = (typeof fieldGates)[number];

/** Determines which fields of later releases a server has. */
export interface FieldSwitches {
  readonly isOn: (gate: string) => boolean;
  /** The minor release of the server's expression language. */
  readonly expressionRelease: number;
}

type Reduce = <M extends Message>(message: M) => M;
const known = new Map<string, Reduce>();

/**
 * Returns a function that reduces declarations to those of a server with these switches. Servers with the
 * same switches share the result, so that derived artifacts such as codecs are created once per process.
 */
export function gatedFields({ isOn, expressionRelease }: FieldSwitches): Reduce {
  const on = new Set<string>(fieldGates.filter(isOn));
  return known.getOrInsertComputed(`${[...on].join()} ${expressionRelease}`, () =>
    rewriter({
      key: (key, { more: { gate, since } }) =>
        (gate === undefined || on.has(gate)) && (since === undefined || expressionRelease >= since)
          ? key
          : undefined,
      field: (field) => {
        const { enum: values, valueGates: gates } = field.more;
        const known = gates && values?.filter((value) => gates[value] === undefined || on.has(gates[value]));
        return known && known.length < values!.length
          ? { ...field, more: { ...field.more, enum: known } }
          : field;
      },
    }),
  );
}
