// The kinds that clients ask for most, as `client.of()` takes them.
import {
  CSINode,
  ClusterRole,
  ClusterRoleBinding,
  ConfigMap,
  CoreEvent,
  Deployment,
  Event,
  Job,
  Lease,
  Namespace,
  Node,
  PersistentVolume,
  PersistentVolumeClaim,
  Pod,
  PodDisruptionBudget,
  Role,
  RoleBinding,
  Secret,
  Service,
  ServiceAccount,
  SubjectAccessReview,
  TokenRequest,
  TokenReview,
} from "#api";
import type { KindSchema, ResourceKind } from "./client.ts";

const inNamespaces = <S extends KindSchema>(plural: string, schema: S): ResourceKind<S> => ({
  schema,
  plural,
  namespaced: true,
});
const inCluster = <S extends KindSchema>(plural: string, schema: S): ResourceKind<S> => ({
  schema,
  plural,
  namespaced: false,
});

export const kinds = {
  clusterRoles: inCluster("clusterroles", ClusterRole),
  clusterRoleBindings: inCluster("clusterrolebindings", ClusterRoleBinding),
  configMaps: inNamespaces("configmaps", ConfigMap),
  /** Events as the core group serves them. */
  coreEvents: inNamespaces("events", CoreEvent),
  csiNodes: inCluster("csinodes", CSINode),
  deployments: inNamespaces("deployments", Deployment),
  events: inNamespaces("events", Event),
  jobs: inNamespaces("jobs", Job),
  leases: inNamespaces("leases", Lease),
  namespaces: inCluster("namespaces", Namespace),
  nodes: inCluster("nodes", Node),
  persistentVolumes: inCluster("persistentvolumes", PersistentVolume),
  persistentVolumeClaims: inNamespaces("persistentvolumeclaims", PersistentVolumeClaim),
  pods: inNamespaces("pods", Pod),
  podDisruptionBudgets: inNamespaces("poddisruptionbudgets", PodDisruptionBudget),
  roles: inNamespaces("roles", Role),
  roleBindings: inNamespaces("rolebindings", RoleBinding),
  secrets: inNamespaces("secrets", Secret),
  serviceAccounts: inNamespaces("serviceaccounts", ServiceAccount),
  services: inNamespaces("services", Service),
  subjectAccessReviews: inCluster("subjectaccessreviews", SubjectAccessReview),
  /** Made as the subresource "token" of an account. */
  tokenRequests: { ...inNamespaces("serviceaccounts", TokenRequest), below: ServiceAccount },
  tokenReviews: inCluster("tokenreviews", TokenReview),
} as const;
