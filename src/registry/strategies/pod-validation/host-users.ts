// Pods with users of their own: what they cannot have besides.
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
  // The names of two of them are spelled this way by the reference, too.
  const shared = [
    spec.hostNetwork && "hostNetwork",
    spec.hostPID && "HostPID",
    spec.hostIPC && "HostIPC",
  ].filter((name) => typeof name === "string");
  return [...volumes, ...shared.map((name) => forbiddenField(`${path}.${name}`, when))];
}
