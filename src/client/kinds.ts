// The most used kinds, as arguments for `client.of()`.
import {
  APIService,
  CSIDriver,
  CSINode,
  CSIStorageCapacity,
  CertificateSigningRequest,
  ClusterRole,
  ClusterRoleBinding,
  ConfigMap,
  ControllerRevision,
  CoreEvent,
  CronJob,
  CustomResourceDefinition,
  DaemonSet,
  Deployment,
  EndpointSlice,
  Endpoints,
  Event,
  HorizontalPodAutoscaler,
  Job,
  Lease,
  LimitRange,
  Namespace,
  Node,
  PersistentVolume,
  PersistentVolumeClaim,
  Pod,
  PodDisruptionBudget,
  PriorityClass,
  ReplicaSet,
  ReplicationController,
  ResourceQuota,
  Role,
  RoleBinding,
  RuntimeClass,
  Secret,
  Service,
  ServiceAccount,
  StatefulSet,
  StorageClass,
  SubjectAccessReview,
  TokenRequest,
  TokenReview,
  VolumeAttachment,
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

/** Declared explicitly, because the compiler does not emit an inferred type of this size. */
export interface Kinds {
  readonly apiServices: ResourceKind<typeof APIService>;
  readonly clusterRoles: ResourceKind<typeof ClusterRole>;
  readonly clusterRoleBindings: ResourceKind<typeof ClusterRoleBinding>;
  readonly configMaps: ResourceKind<typeof ConfigMap>;
  readonly coreEvents: ResourceKind<typeof CoreEvent>;
  readonly csiNodes: ResourceKind<typeof CSINode>;
  readonly deployments: ResourceKind<typeof Deployment>;
  readonly events: ResourceKind<typeof Event>;
  readonly jobs: ResourceKind<typeof Job>;
  readonly leases: ResourceKind<typeof Lease>;
  readonly namespaces: ResourceKind<typeof Namespace>;
  readonly nodes: ResourceKind<typeof Node>;
  readonly persistentVolumes: ResourceKind<typeof PersistentVolume>;
  readonly persistentVolumeClaims: ResourceKind<typeof PersistentVolumeClaim>;
  readonly pods: ResourceKind<typeof Pod>;
  readonly podDisruptionBudgets: ResourceKind<typeof PodDisruptionBudget>;
  readonly roles: ResourceKind<typeof Role>;
  readonly roleBindings: ResourceKind<typeof RoleBinding>;
  readonly secrets: ResourceKind<typeof Secret>;
  readonly serviceAccounts: ResourceKind<typeof ServiceAccount>;
  readonly services: ResourceKind<typeof Service>;
  readonly subjectAccessReviews: ResourceKind<typeof SubjectAccessReview>;
  readonly tokenRequests: ResourceKind<typeof TokenRequest> & { readonly below: typeof ServiceAccount };
  readonly tokenReviews: ResourceKind<typeof TokenReview>;
  readonly controllerRevisions: ResourceKind<typeof ControllerRevision>;
  readonly cronJobs: ResourceKind<typeof CronJob>;
  readonly csiDrivers: ResourceKind<typeof CSIDriver>;
  readonly certificateSigningRequests: ResourceKind<typeof CertificateSigningRequest>;
  readonly customResourceDefinitions: ResourceKind<typeof CustomResourceDefinition>;
  readonly daemonSets: ResourceKind<typeof DaemonSet>;
  readonly endpointSlices: ResourceKind<typeof EndpointSlice>;
  readonly endpoints: ResourceKind<typeof Endpoints>;
  readonly horizontalPodAutoscalers: ResourceKind<typeof HorizontalPodAutoscaler>;
  readonly priorityClasses: ResourceKind<typeof PriorityClass>;
  readonly replicaSets: ResourceKind<typeof ReplicaSet>;
  readonly replicationControllers: ResourceKind<typeof ReplicationController>;
  readonly resourceQuotas: ResourceKind<typeof ResourceQuota>;
  readonly limitRanges: ResourceKind<typeof LimitRange>;
  readonly runtimeClasses: ResourceKind<typeof RuntimeClass>;
  readonly statefulSets: ResourceKind<typeof StatefulSet>;
  readonly storageClasses: ResourceKind<typeof StorageClass>;
  readonly volumeAttachments: ResourceKind<typeof VolumeAttachment>;
  readonly csiStorageCapacities: ResourceKind<typeof CSIStorageCapacity>;
}

export const kinds: Kinds = {
  apiServices: inCluster("apiservices", APIService),
  clusterRoles: inCluster("clusterroles", ClusterRole),
  clusterRoleBindings: inCluster("clusterrolebindings", ClusterRoleBinding),
  configMaps: inNamespaces("configmaps", ConfigMap),
  /** Events in the core group. */
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
  /** Created through the subresource "token" of a service account. */
  tokenRequests: { ...inNamespaces("serviceaccounts", TokenRequest), below: ServiceAccount },
  tokenReviews: inCluster("tokenreviews", TokenReview),
  controllerRevisions: inNamespaces("controllerrevisions", ControllerRevision),
  cronJobs: inNamespaces("cronjobs", CronJob),
  csiDrivers: inCluster("csidrivers", CSIDriver),
  certificateSigningRequests: inCluster("certificatesigningrequests", CertificateSigningRequest),
  customResourceDefinitions: inCluster("customresourcedefinitions", CustomResourceDefinition),
  daemonSets: inNamespaces("daemonsets", DaemonSet),
  endpointSlices: inNamespaces("endpointslices", EndpointSlice),
  endpoints: inNamespaces("endpoints", Endpoints),
  horizontalPodAutoscalers: inNamespaces("horizontalpodautoscalers", HorizontalPodAutoscaler),
  priorityClasses: inCluster("priorityclasses", PriorityClass),
  replicaSets: inNamespaces("replicasets", ReplicaSet),
  replicationControllers: inNamespaces("replicationcontrollers", ReplicationController),
  resourceQuotas: inNamespaces("resourcequotas", ResourceQuota),
  limitRanges: inNamespaces("limitranges", LimitRange),
  runtimeClasses: inCluster("runtimeclasses", RuntimeClass),
  statefulSets: inNamespaces("statefulsets", StatefulSet),
  storageClasses: inCluster("storageclasses", StorageClass),
  volumeAttachments: inCluster("volumeattachments", VolumeAttachment),
  csiStorageCapacities: inNamespaces("csistoragecapacities", CSIStorageCapacity),
};
