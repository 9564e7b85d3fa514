// Validation of pods with user namespaces, which exclude other host namespaces and some volume types.
import type { PodSpec } from "#api";
import { type FieldError, forbiddenField } from "#base";

const kept = ["emptyDir", "secret", "downwardAPI", "configMap", "projected"] as const;
const when = "when `pod.Spec.HostUsers` is false";

export function hostUsersErrors(spec: PodSpec, path: string): FieldError[] {
  if (spec.hostUsers !== false) return [];
  const volumes = (spec.volumes ?? []).flatMap((volume, position) =>
    kept.some((source) => volume[source] !== undefined)
      ? []
      : [forbiddenField(`${path}.volumes[${position}]`, `volume type not supported ${when}`)],
  );
  // The reference spells two of the names this way.
  const shared = [
    spec.hostNetwork && "hostNetwork",
    spec.hostPID && "HostPID",
    spec.hostIPC && "HostIPC",
  ].filter((name) => typeof name === "string");
  return [...volumes, ...shared.map((name) => forbiddenField(`${path}.${name}`, when))];
}
