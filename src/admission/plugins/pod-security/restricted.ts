// The restricted standard: current hardening practices.
import type { Volume } from "#api";
import { type Check, isConfined, seccompProfile as seccompBaseline } from "./baseline.ts";
import { containersOf, distinct, named, namesOf, plural, quoted, setters } from "./finding-texts.ts";

const allowedVolumes: readonly (keyof Volume)[] = [
  "configMap",
  "csi",
  "downwardAPI",
  "emptyDir",
  "ephemeral",
  "persistentVolumeClaim",
  "projected",
  "secret",
];

/** Exempts Windows pods, as later versions of the standard do. */
export const unlessWindows =
  (check: Check): Check =>
  (metadata, spec, dialect) =>
    spec.os?.name === "windows" ? undefined : check(metadata, spec, dialect);

export const allowPrivilegeEscalation: Check = (_metadata, spec) => {
  const found = containersOf(spec).filter(
    ({ securityContext }) => securityContext?.allowPrivilegeEscalation !== false,
  );
  if (found.length === 0) return undefined;
  return {
    reason: "allowPrivilegeEscalation != false",
    detail: `${named("container", namesOf(found))} must set securityContext.allowPrivilegeEscalation=false`,
  };
};

export const droppedCapabilities: Check = (_metadata, spec) => {
  const containers = containersOf(spec);
  const keeping = containers.filter(
    ({ securityContext }) => !securityContext?.capabilities?.drop?.includes("ALL"),
  );
  const odd = (own: (typeof containers)[number]): string[] =>
    (own.securityContext?.capabilities?.add ?? []).filter((name) => name !== "NET_BIND_SERVICE");
  const adding = containers.filter((own) => odd(own).length > 0);
  const details = [
    ...(keeping.length > 0
      ? [`${named("container", namesOf(keeping))} must set securityContext.capabilities.drop=["ALL"]`]
      : []),
    ...(adding.length > 0
      ? [
          `${named("container", namesOf(adding))} must not include ${quoted(distinct(adding.flatMap(odd)))} in securityContext.capabilities.add`,
        ]
      : []),
  ];
  return details.length > 0 ? { reason: "unrestricted capabilities", detail: details.join("; ") } : undefined;
};

export const restrictedVolumes: Check = (_metadata, { volumes = [] }) => {
  const found = volumes.filter((volume) => !allowedVolumes.some((key) => volume[key] !== undefined));
  if (found.length === 0) return undefined;
  const types = distinct(
    found.map(
      (volume) =>
        Object.keys(volume).find((key) => key !== "name" && volume[key as keyof Volume] !== undefined) ??
        "unknown",
    ),
  );
  const volumeNames = found.map(({ name }) => name);
  return {
    reason: "restricted volume types",
    detail: `${named("volume", volumeNames)} ${found.length === 1 ? "uses" : "use"} ${plural("restricted volume type", types.length)} ${quoted(types)}`,
  };
};

export const runAsNonRoot: Check = (_metadata, spec) => {
  const reason = "runAsNonRoot != true";
  const ofPod = spec.securityContext?.runAsNonRoot;
  const own = containersOf(spec).map((container) => ({
    container,
    value: container.securityContext?.runAsNonRoot,
  }));
  const violators = setters(
    ofPod === false,
    own.flatMap(({ container, value }) => (value === false ? [container] : [])),
  );
  if (violators.length > 0)
    return { reason, detail: `${violators.join(" and ")} must not set securityContext.runAsNonRoot=false` };
  const unset = own.flatMap(({ container, value }) =>
    value === undefined && ofPod !== true ? [container] : [],
  );
  return unset.length > 0
    ? {
        reason,
        detail: `pod or ${named("container", namesOf(unset))} must set securityContext.runAsNonRoot=true`,
      }
    : undefined;
};

export const runAsUser: Check = (_metadata, spec) => {
  const violators = setters(
    spec.securityContext?.runAsUser === 0,
    containersOf(spec).filter(({ securityContext }) => securityContext?.runAsUser === 0),
  );
  return violators.length > 0
    ? { reason: "runAsUser=0", detail: `${violators.join(" and ")} must not set runAsUser=0` }
    : undefined;
};

export const seccompProfile: Check = (metadata, spec, dialect) => {
  const wrong = seccompBaseline(metadata, spec, dialect);
  if (wrong) return wrong;
  const ofPod = spec.securityContext?.seccompProfile;
  const unset = containersOf(spec).filter(
    ({ securityContext }) => !securityContext?.seccompProfile && !(ofPod && isConfined(ofPod)),
  );
  if (unset.length === 0) return undefined;
  return {
    reason: "seccompProfile",
    detail: `pod or ${named("container", namesOf(unset))} must set securityContext.seccompProfile.type to "RuntimeDefault" or "Localhost"`,
  };
};
