// Cluster-wide restrictions of pods: image pulls, security contexts, anti-affinity topology, and tolerations
// of extended resources.
import type { Container, Pod, Toleration } from "#api";
import { forbidden } from "#base";
import type { Dialect } from "#dialect";
import { isDeepStrictEqual } from "node:util";
import { type AdmissionPlugin, type AdmissionAttributes, typed } from "../attributes.ts";

const applies = ({ resource, subresource }: AdmissionAttributes): boolean =>
  resource.group === "" && resource.resource === "pods" && !subresource;
const refused = (attributes: AdmissionAttributes, why: string): Error =>
  forbidden(attributes.resource, attributes.name, why);
const containersOf = ({ initContainers, containers, ephemeralContainers }: Pod["spec"]): Container[] => [
  ...(initContainers ?? []),
  ...(containers ?? []),
  ...(ephemeralContainers ?? []),
];

/** Forces image pulls before every start, so that only pods with pull credentials run an image. */
export const alwaysPullImages: AdmissionPlugin = {
  name: "AlwaysPullImages",
  handles: ["CREATE", "UPDATE"],
  resources: ["pods"],
  mutate: async (attributes) => {
    if (!applies(attributes)) return;
    const containers = containersOf(typed<Pod>(attributes.object).spec);
    const old =
      attributes.oldObject &&
      new Set(containersOf(typed<Pod>(attributes.oldObject).spec).map(({ image }) => image));
    if (old && containers.every(({ image }) => old.has(image))) return;
    for (const container of containers) container.imagePullPolicy = "Always";
  },
};

export const limitHardAntiAffinity = ({ names }: Dialect): AdmissionPlugin => ({
  name: "LimitPodHardAntiAffinityTopology",
  handles: ["CREATE", "UPDATE"],
  resources: ["pods"],
  validate: async (attributes) => {
    if (!applies(attributes)) return [];
    const terms =
      typed<Pod>(attributes.object).spec.affinity?.podAntiAffinity
        ?.requiredDuringSchedulingIgnoredDuringExecution ?? [];
    const wide = terms.find(({ topologyKey }) => topologyKey !== names.labels.hostname);
    if (wide)
      throw refused(
        attributes,
        `affinity.PodAntiAffinity.RequiredDuringScheduling has TopologyKey ${wide.topologyKey} but only key ${names.labels.hostname} is allowed`,
      );
    return [];
  },
});

/** Refused fields, with their names in error texts. */
const denied = {
  supplementalGroups: "SupplementalGroups",
  seLinuxOptions: "SELinuxOptions",
  runAsUser: "RunAsUser",
  fsGroup: "FSGroup",
} as const;

export const securityContextDeny: AdmissionPlugin = {
  name: "SecurityContextDeny",
  handles: ["CREATE", "UPDATE"],
  resources: ["pods"],
  validate: async (attributes) => {
    if (!applies(attributes)) return [];
    const { securityContext, initContainers, containers } = typed<Pod>(attributes.object).spec;
    for (const key of ["supplementalGroups", "seLinuxOptions", "runAsUser", "fsGroup"] as const)
      if (securityContext?.[key] !== undefined)
        throw refused(attributes, `pod.Spec.SecurityContext.${denied[key]} is forbidden`);
    for (const { securityContext: own } of [...(initContainers ?? []), ...(containers ?? [])])
      for (const key of ["seLinuxOptions", "runAsUser"] as const)
        if (own?.[key] !== undefined)
          throw refused(attributes, `SecurityContext.${denied[key]} is forbidden`);
    return [];
  },
};

/** Adds tolerations for taints named after the extended resources that a pod requests. */
export const extendedResourceToleration = ({ names }: Dialect): AdmissionPlugin => ({
  name: "ExtendedResourceToleration",
  handles: ["CREATE", "UPDATE"],
  resources: ["pods"],
  mutate: async (attributes) => {
    if (!applies(attributes)) return;
    const { spec } = typed<Pod>(attributes.object);
    const isExtended = (name: string): boolean =>
      name.includes("/") && !name.includes(names.resources.nativePrefix) && !name.startsWith("requests.");
    const requested = [...(spec.containers ?? []), ...(spec.initContainers ?? [])].flatMap(({ resources }) =>
      Object.keys(resources.requests ?? {}).filter(isExtended),
    );
    if (requested.length === 0) return;
    const tolerations = [...(spec.tolerations ?? [])];
    const alike = tolerations.flatMap((each, position) =>
      each.operator === "Exists" && each.effect === "NoSchedule" && !each.value ? [{ each, position }] : [],
    );
    const byKey = Map.groupBy(alike, ({ each }) => each.key ?? "");
    for (const key of [...new Set(requested)].toSorted()) {
      const toleration: Toleration = { key, operator: "Exists", effect: "NoSchedule" };
      const same = byKey.get(key) ?? [];
      if (same.some(({ each }) => isDeepStrictEqual(each, toleration))) continue;
      if (same[0]) tolerations[same[0].position] = toleration;
      else tolerations.push(toleration);
    }
    spec.tolerations = tolerations;
  },
});
