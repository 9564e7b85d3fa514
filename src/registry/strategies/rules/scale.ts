// The scale of workloads: all of them have the desired count in spec.replicas and the observed one in
// status.replicas.
import { labelSelectorText } from "#base";
import type { ApiObject, ScaleView } from "../../strategy.ts";

interface Scalable extends ApiObject {
  spec: { replicas?: number | undefined; selector?: unknown };
  status: { replicas?: number | undefined };
}

export function scaleView<T extends Scalable>(
  selectorText: (obj: T) => string = (obj) => labelSelectorText(obj.spec.selector ?? {}),
): ScaleView<T> {
  return {
    replicas: ({ spec }) => spec.replicas ?? 0,
    setReplicas: ({ spec }, replicas) => {
      spec.replicas = replicas;
    },
    observed: ({ status }) => status.replicas ?? 0,
    selector: selectorText,
  };
}
