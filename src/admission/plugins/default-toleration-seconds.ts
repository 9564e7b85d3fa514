// Adds default tolerations for nodes that are not ready or unreachable.
import type { Pod, Toleration } from "#api";
import type { Dialect } from "#dialect";
import { type AdmissionPlugin, typed } from "../attributes.ts";

export function defaultTolerationSeconds(
  { names }: Dialect,
  seconds: { readonly notReady: number; readonly unreachable: number },
): AdmissionPlugin {
  const wanted: readonly [key: string, seconds: number][] = [
    [names.taints.notReady, seconds.notReady],
    [names.taints.unreachable, seconds.unreachable],
  ];
  return {
    name: "DefaultTolerationSeconds",
    handles: ["CREATE", "UPDATE"],
    resources: ["pods"],
    mutate: async ({ resource, subresource, object }) => {
      if (resource.group !== "" || resource.resource !== "pods" || subresource) return;
      const { spec } = typed<Pod>(object);
      const given = spec.tolerations ?? [];
      const missing = wanted.filter(
        ([key]) =>
          !given.some(
            (each) => (!each.key || each.key === key) && (!each.effect || each.effect === "NoExecute"),
          ),
      );
      if (missing.length === 0) return;
      const added = missing.map(([key, tolerationSeconds]): Toleration => ({
        key,
        operator: "Exists",
        effect: "NoExecute",
        tolerationSeconds,
      }));
      spec.tolerations = [...given, ...added];
    },
  };
}
