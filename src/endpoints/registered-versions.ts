// Versions in which a patch may leave an object: those that are served, and those that kube-apiserver 1.27
// still knows without serving them.
import type { Endpoint } from "#registry";

/**
 * Versions by kind that are known but not served, with the served version whose fields they have if it is not
 * the version of the request. Versions whose fields differ from every served one are not listed.
 */
const known: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  ControllerRevision: { v1beta1: "", v1beta2: "" },
  CronJob: { v1beta1: "" },
  CSIDriver: { v1beta1: "" },
  CSINode: { v1beta1: "" },
  CSIStorageCapacity: { v1alpha1: "", v1beta1: "" },
  CertificateSigningRequest: { v1beta1: "" },
  ClusterRole: { v1alpha1: "", v1beta1: "" },
  ClusterRoleBinding: { v1alpha1: "", v1beta1: "" },
  DaemonSet: { v1beta2: "" },
  Deployment: { v1beta1: "", v1beta2: "" },
  Event: { v1beta1: "v1" },
  FlowSchema: { v1alpha1: "v1beta2", v1beta1: "v1beta2" },
  HorizontalPodAutoscaler: { v2beta2: "v2" },
  IngressClass: { v1beta1: "" },
  Lease: { v1beta1: "" },
  MutatingWebhookConfiguration: { v1beta1: "" },
  PodDisruptionBudget: { v1beta1: "" },
  PriorityClass: { v1alpha1: "", v1beta1: "" },
  PriorityLevelConfiguration: { v1alpha1: "v1beta2", v1beta1: "v1beta2" },
  ReplicaSet: { v1beta2: "" },
  Role: { v1alpha1: "", v1beta1: "" },
  RoleBinding: { v1alpha1: "", v1beta1: "" },
  RuntimeClass: { v1beta1: "" },
  StatefulSet: { v1beta1: "", v1beta2: "" },
  StorageClass: { v1beta1: "" },
  ValidatingWebhookConfiguration: { v1beta1: "" },
  VolumeAttachment: { v1alpha1: "", v1beta1: "" },
};
/** Kinds that the group `extensions` has under its only version. */
const extensions = new Set(["DaemonSet", "Deployment", "NetworkPolicy", "ReplicaSet"]);

/** Returns the endpoint as whose kind an object of another version is decoded; undefined for an unknown version. */
export function endpointOfVersion(endpoint: Endpoint, apiVersion: string): Endpoint | undefined {
  const { kind, resource } = endpoint;
  const served = (wanted: string): Endpoint | undefined =>
    resource.endpoints.find((each) => each.apiVersion === wanted && each.kind === kind);
  const exact = served(apiVersion);
  if (exact) return exact;
  if (apiVersion === "extensions/v1beta1" && extensions.has(kind)) return endpoint;
  const [group = "", version = ""] = apiVersion.split("/");
  if (!resource.endpoints.some((each) => each.group === group)) return undefined;
  const versions = known[kind] ?? {};
  if (!Object.hasOwn(versions, version)) return undefined;
  const like = versions[version]!;
  return like === "" ? endpoint : served(`${group}/${like}`);
}
