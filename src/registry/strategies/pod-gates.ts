// Fields whose features are switched off in this release: they are accepted and forgotten, unless the stored object has them.
import type { PodSpec } from "#api";
import { everyContainer } from "./pod-validation/every-container.ts";

export function dropDisabled(spec: PodSpec, old?: PodSpec): void {
  const before = old ? [...everyContainer(old, "")].map(({ container }) => container) : [];
  if (old?.hostUsers === undefined) delete spec.hostUsers;
  const keepsClaims = Boolean(old?.resourceClaims?.length);
  if (!keepsClaims) delete spec.resourceClaims;
  const keepsResize = (old?.containers ?? []).some(({ resizePolicy }) => resizePolicy?.length);
  const keepsProcMount = before.some(({ securityContext }) => (securityContext?.procMount ?? "Default") !== "Default");
  for (const { container } of everyContainer(spec, "")) {
    if (!keepsClaims) delete container.resources.claims;
    if (!keepsResize) delete container.resizePolicy;
    if (!keepsProcMount && container.securityContext?.procMount !== undefined) container.securityContext.procMount = "Default";
  }
  for (const { ephemeral } of spec.volumes ?? []) delete ephemeral?.volumeClaimTemplate?.spec.resources.claims;
}
