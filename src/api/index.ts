export { Condition } from "./meta/condition.ts";
export {
  APIGroup,
  APIGroupList,
  APIResource,
  APIResourceList,
  APIVersions,
  GroupVersionForDiscovery,
  ServerAddressByClientCIDR,
} from "./meta/discovery.ts";
export {
  GroupKind,
  GroupResource,
  GroupVersion,
  GroupVersionKind,
  GroupVersionResource,
} from "./meta/group-version.ts";
export { FieldSelectorRequirement, LabelSelector, LabelSelectorRequirement } from "./meta/label-selector.ts";
export { type Kind, List, type ListKind, listOf } from "./meta/list.ts";
export { ListMeta, ManagedFieldsEntry, ObjectMeta, OwnerReference } from "./meta/object-meta.ts";
export {
  CreateOptions,
  DeleteOptions,
  GetOptions,
  ListOptions,
  PatchOptions,
  Preconditions,
  UpdateOptions,
} from "./meta/options.ts";
export { Status, StatusCause, StatusDetails } from "./meta/status.ts";
export {
  PartialObjectMetadata,
  Table,
  TableColumnDefinition,
  TableOptions,
  TableRow,
  TableRowCondition,
} from "./meta/table.ts";
export { Info as VersionInfo } from "./meta/version.ts";
export { WatchEvent } from "./meta/watch.ts";
export { Event, EventSeries } from "./events/event.ts";
export {
  Affinity,
  NodeAffinity,
  NodeSelector,
  NodeSelectorRequirement,
  NodeSelectorTerm,
  PodAffinity,
  PodAffinityTerm,
  PodAntiAffinity,
  PreferredSchedulingTerm,
  Taint,
  Toleration,
  TopologySelectorLabelRequirement,
  TopologySelectorTerm,
  TopologySpreadConstraint,
  WeightedPodAffinityTerm,
} from "./core/affinity.ts";
export {
  type ResizeStatus,
  effectiveRequests,
  resizable,
  resizeStatuses,
  equalResources,
} from "./core/resize.ts";
export { type Arithmetic, isSidecar, peakUsage, numbers, runningContainers } from "./core/sidecars.ts";
export { tolerates } from "./core/tolerates.ts";
export { type NamedNode, podMatchesNode } from "./core/pod-matches-node.ts";
export { ComponentCondition, ComponentStatus, RangeAllocation } from "./core/component.ts";
export { ConfigMap, Secret, ServiceAccount } from "./core/config.ts";
export {
  Container,
  ContainerPort,
  ContainerState,
  ContainerStateRunning,
  ContainerStateTerminated,
  ContainerStateWaiting,
  ContainerStatus,
  EphemeralContainer,
  EphemeralContainerCommon,
  VolumeDevice,
  VolumeMount,
} from "./core/container.ts";
export {
  ConfigMapEnvSource,
  ConfigMapKeySelector,
  EnvFromSource,
  EnvVar,
  EnvVarSource,
  ObjectFieldSelector,
  ResourceFieldSelector,
  SecretEnvSource,
  SecretKeySelector,
} from "./core/env.ts";
export { Event as CoreEvent, EventSeries as CoreEventSeries, EventSource } from "./core/event.ts";
export { Namespace, NamespaceCondition, NamespaceSpec, NamespaceStatus } from "./core/namespace.ts";
export {
  AttachedVolume,
  ConfigMapNodeConfigSource,
  ContainerImage,
  DaemonEndpoint,
  Node,
  NodeAddress,
  NodeCondition,
  NodeConfigSource,
  NodeConfigStatus,
  NodeDaemonEndpoints,
  NodeSpec,
  NodeStatus,
  NodeSystemInfo,
} from "./core/node.ts";
export {
  CSIPersistentVolumeSource,
  LocalVolumeSource,
  PersistentVolume,
  PersistentVolumeSource,
  PersistentVolumeSpec,
  PersistentVolumeStatus,
  VolumeNodeAffinity,
} from "./core/persistent-volume.ts";
export {
  NodeProxyOptions,
  PodAttachOptions,
  PodExecOptions,
  PodLogOptions,
  PodPortForwardOptions,
  PodProxyOptions,
  ServiceProxyOptions,
} from "./core/pod-options.ts";
export {
  Binding,
  ClaimSource,
  HostAlias,
  Pod,
  PodCondition,
  PodDNSConfig,
  PodDNSConfigOption,
  PodIP,
  PodOS,
  PodReadinessGate,
  PodResourceClaim,
  PodSchedulingGate,
  PodSpec,
  PodStatus,
  PodStatusResult,
  PodTemplate,
  PodTemplateSpec,
} from "./core/pod.ts";
export {
  ExecAction,
  GRPCAction,
  HTTPGetAction,
  HTTPHeader,
  Lifecycle,
  LifecycleHandler,
  type SleepAction,
  Probe,
  ProbeHandler,
  TCPSocketAction,
} from "./core/probe.ts";
export {
  LimitRange,
  LimitRangeItem,
  LimitRangeSpec,
  ResourceQuota,
  ResourceQuotaSpec,
  ResourceQuotaStatus,
  ScopedResourceSelectorRequirement,
  ScopeSelector,
} from "./core/quota.ts";
export {
  LocalObjectReference,
  ObjectReference,
  SecretReference,
  SerializedReference,
  TypedLocalObjectReference,
  TypedObjectReference,
} from "./core/reference.ts";
export {
  ReplicationController,
  ReplicationControllerCondition,
  ReplicationControllerSpec,
  ReplicationControllerStatus,
} from "./core/replication-controller.ts";
export { ContainerResizePolicy, ResourceClaim, ResourceRequirements } from "./core/resources.ts";
export {
  Capabilities,
  PodSecurityContext,
  AppArmorProfile,
  SeccompProfile,
  SecurityContext,
  SELinuxOptions,
  Sysctl,
  WindowsSecurityContextOptions,
} from "./core/security.ts";
export {
  ClientIPConfig,
  EndpointAddress,
  EndpointPort,
  Endpoints,
  EndpointSubset,
  LoadBalancerIngress,
  LoadBalancerStatus,
  PortStatus,
  Service,
  ServicePort,
  ServiceSpec,
  ServiceStatus,
  SessionAffinityConfig,
} from "./core/service.ts";
export {
  PersistentVolumeClaim,
  PersistentVolumeClaimCondition,
  PersistentVolumeClaimSpec,
  PersistentVolumeClaimStatus,
} from "./core/volume-claim.ts";
export {
  AWSElasticBlockStoreVolumeSource,
  AzureDiskVolumeSource,
  AzureFilePersistentVolumeSource,
  AzureFileVolumeSource,
  CephFSPersistentVolumeSource,
  CephFSVolumeSource,
  CinderPersistentVolumeSource,
  CinderVolumeSource,
  FCVolumeSource,
  FlexPersistentVolumeSource,
  FlexVolumeSource,
  FlockerVolumeSource,
  GCEPersistentDiskVolumeSource,
  GitRepoVolumeSource,
  GlusterfsPersistentVolumeSource,
  GlusterfsVolumeSource,
  ISCSIPersistentVolumeSource,
  ISCSIVolumeSource,
  NFSVolumeSource,
  PhotonPersistentDiskVolumeSource,
  PortworxVolumeSource,
  QuobyteVolumeSource,
  RBDPersistentVolumeSource,
  RBDVolumeSource,
  ScaleIOPersistentVolumeSource,
  ScaleIOVolumeSource,
  StorageOSPersistentVolumeSource,
  StorageOSVolumeSource,
  VsphereVirtualDiskVolumeSource,
} from "./core/volume-vendor.ts";
export {
  ConfigMapProjection,
  ConfigMapVolumeSource,
  CSIVolumeSource,
  DownwardAPIProjection,
  DownwardAPIVolumeFile,
  DownwardAPIVolumeSource,
  EmptyDirVolumeSource,
  EphemeralVolumeSource,
  HostPathVolumeSource,
  KeyToPath,
  PersistentVolumeClaimTemplate,
  PersistentVolumeClaimVolumeSource,
  ProjectedVolumeSource,
  SecretProjection,
  SecretVolumeSource,
  ServiceAccountTokenProjection,
  Volume,
  VolumeProjection,
  VolumeSource,
} from "./core/volume.ts";
export { AdmissionRequest, AdmissionResponse, AdmissionReview } from "./admission/review.ts";
export {
  MatchCondition,
  MutatingWebhook,
  MutatingWebhookConfiguration,
  Rule as AdmissionRule,
  RuleWithOperations,
  ServiceReference,
  ValidatingWebhook,
  ValidatingWebhookConfiguration,
  WebhookClientConfig,
} from "./admissionregistration/webhook.ts";
export {
  AuditAnnotation,
  MatchResources,
  NamedRuleWithOperations,
  ParamKind,
  ParamRef,
  PolicyValidation,
  ValidatingAdmissionPolicy,
  ValidatingAdmissionPolicyBinding,
  ValidatingAdmissionPolicyBindingSpec,
  ValidatingAdmissionPolicySpec,
  laterPolicies,
} from "./admissionregistration/policy.ts";
export { APIGroupDiscovery, APIGroupDiscoveryV2beta1 } from "./apidiscovery/discovery.ts";
export {
  ConversionRequest,
  ConversionResponse,
  ConversionReview,
  CustomResourceColumnDefinition,
  CustomResourceConversion,
  CustomResourceDefinition,
  CustomResourceDefinitionCondition,
  CustomResourceDefinitionNames,
  CustomResourceDefinitionSpec,
  CustomResourceDefinitionStatus,
  CustomResourceDefinitionVersion,
  SelectableField,
  CustomResourceSubresources,
  CustomResourceSubresourceScale,
  CustomResourceSubresourceStatus,
  CustomResourceValidation,
  ServiceReference as ExtensionServiceReference,
  WebhookClientConfig as ExtensionWebhookClientConfig,
  WebhookConversion,
} from "./apiextensions/custom-resource.ts";
export { ExternalDocumentation, JSONSchemaProps, ValidationRule } from "./apiextensions/json-schema.ts";
export {
  APIService,
  APIServiceCondition,
  APIServiceSpec,
  APIServiceStatus,
  ServiceReference as AggregatedServiceReference,
} from "./apiregistration/api-service.ts";
export { ControllerRevision } from "./apps/controller-revision.ts";
export {
  DaemonSet,
  DaemonSetCondition,
  DaemonSetSpec,
  DaemonSetStatus,
  DaemonSetUpdateStrategy,
  RollingUpdateDaemonSet,
} from "./apps/daemon-set.ts";
export {
  Deployment,
  DeploymentCondition,
  DeploymentSpec,
  DeploymentStatus,
  DeploymentStrategy,
  ReplicaSet,
  ReplicaSetCondition,
  ReplicaSetSpec,
  ReplicaSetStatus,
  RollingUpdateDeployment,
} from "./apps/deployment.ts";
export {
  RollingUpdateStatefulSetStrategy,
  StatefulSet,
  StatefulSetCondition,
  StatefulSetOrdinals,
  StatefulSetPersistentVolumeClaimRetentionPolicy,
  StatefulSetSpec,
  StatefulSetStatus,
  StatefulSetUpdateStrategy,
} from "./apps/stateful-set.ts";
export {
  SelfSubjectReview,
  SelfSubjectReviewStatus,
  SelfSubjectReviewV1,
  SelfSubjectReviewV1alpha1,
} from "./authentication/self-review.ts";
export {
  BoundObjectReference,
  TokenRequest,
  TokenRequestSpec,
  TokenRequestStatus,
  TokenReview,
  TokenReviewSpec,
  TokenReviewStatus,
  UserInfo,
} from "./authentication/token.ts";
export {
  LocalSubjectAccessReview,
  NonResourceAttributes,
  NonResourceRule,
  FieldSelectorAttributes,
  LabelSelectorAttributes,
  ResourceAttributes,
  ResourceRule,
  SelfSubjectAccessReview,
  SelfSubjectAccessReviewSpec,
  SelfSubjectRulesReview,
  SelfSubjectRulesReviewSpec,
  SubjectAccessReview,
  SubjectAccessReviewSpec,
  SubjectAccessReviewStatus,
  SubjectRulesReviewStatus,
} from "./authorization/access-review.ts";
export {
  ContainerResourceMetricSource,
  ContainerResourceMetricStatus,
  CrossVersionObjectReference,
  ExternalMetricSource,
  ExternalMetricStatus,
  HorizontalPodAutoscaler,
  HorizontalPodAutoscalerBehavior,
  HorizontalPodAutoscalerCondition,
  HorizontalPodAutoscalerSpec,
  HorizontalPodAutoscalerStatus,
  HPAScalingPolicy,
  HPAScalingRules,
  MetricIdentifier,
  MetricSpec,
  MetricStatus,
  MetricTarget,
  MetricValueStatus,
  ObjectMetricSource,
  ObjectMetricStatus,
  PodsMetricSource,
  PodsMetricStatus,
  ResourceMetricSource,
  ResourceMetricStatus,
} from "./autoscaling/horizontal.ts";
export { Scale, ScaleSpec, ScaleStatus } from "./autoscaling/scale.ts";
export {
  CronJob,
  CronJobSpec,
  CronJobStatus,
  Job,
  JobCondition,
  JobSpec,
  JobStatus,
  JobTemplateSpec,
  PodFailurePolicy,
  PodFailurePolicyOnExitCodesRequirement,
  PodFailurePolicyOnPodConditionsPattern,
  PodFailurePolicyRule,
  SuccessPolicy,
  SuccessPolicyRule,
  UncountedTerminatedPods,
} from "./batch/job.ts";
export {
  CertificateSigningRequest,
  CertificateSigningRequestCondition,
  CertificateSigningRequestSpec,
  CertificateSigningRequestStatus,
} from "./certificates/signing-request.ts";
export { ClusterTrustBundle, ClusterTrustBundleSpec } from "./certificates/trust-bundle.ts";
export {
  ServerStorageVersion,
  StorageVersion,
  StorageVersionCondition,
  StorageVersionStatus,
} from "./apiserverinternal/storage-version.ts";
export { Lease, LeaseSpec } from "./coordination/lease.ts";
export {
  Endpoint,
  EndpointConditions,
  EndpointHints,
  EndpointPort as SliceEndpointPort,
  EndpointSlice,
  ForZone,
} from "./discovery/endpoint-slice.ts";
export {
  FlowSchema,
  PriorityLevelConfiguration,
  laterFlow,
  v1beta2 as flowcontrolV1beta2,
  v1beta3 as flowcontrolV1beta3,
} from "./flowcontrol/flow.ts";
export { type FieldSwitches, fieldGates, gatedFields } from "./gated-fields.ts";
export { inDialect, keyIn } from "./in-dialect.ts";
export {
  HTTPIngressPath,
  HTTPIngressRuleValue,
  Ingress,
  IngressBackend,
  IngressClass,
  IngressClassParametersReference,
  IngressClassSpec,
  IngressLoadBalancerIngress,
  IngressLoadBalancerStatus,
  IngressPortStatus,
  IngressRule,
  IngressRuleValue,
  IngressServiceBackend,
  IngressSpec,
  IngressStatus,
  IngressTLS,
  ServiceBackendPort,
} from "./networking/ingress.ts";
export {
  IPBlock,
  NetworkPolicy,
  NetworkPolicyEgressRule,
  NetworkPolicyIngressRule,
  NetworkPolicyPeer,
  NetworkPolicyPort,
  NetworkPolicySpec,
  NetworkPolicyStatus,
} from "./networking/network-policy.ts";
export { ClusterCIDR, ClusterCIDRSpec } from "./networking/cluster-cidr.ts";
export { IPAddress, IPAddressSpec, ParentReference } from "./networking/ip-address.ts";
export {
  AllocationResult,
  DeviceClaim,
  DeviceClaimSpec,
  DeviceClaimStatus,
  ResourceClaimConsumerReference,
  ResourceClaimParametersReference,
  ResourceClaimTemplate,
  ResourceClaimTemplateSpec,
  ResourceClass,
  ResourceClassParametersReference,
  ResourceHandle,
} from "./resource/claims.ts";
export {
  PodSchedulingContext,
  PodSchedulingContextSpec,
  PodSchedulingContextStatus,
  ResourceClaimSchedulingStatus,
} from "./resource/pod-scheduling.ts";
export {
  Overhead as RuntimeOverhead,
  RuntimeClass,
  Scheduling as RuntimeScheduling,
} from "./node/runtime-class.ts";
export {
  Eviction,
  PodDisruptionBudget,
  PodDisruptionBudgetSpec,
  PodDisruptionBudgetStatus,
} from "./policy/disruption.ts";
export {
  AggregationRule,
  ClusterRole,
  ClusterRoleBinding,
  PolicyRule,
  Role,
  RoleBinding,
  RoleRef,
  Subject,
} from "./rbac/role.ts";
export { PriorityClass } from "./scheduling/priority-class.ts";
export {
  CSIDriver,
  CSIDriverSpec,
  CSINode,
  CSINodeDriver,
  CSINodeSpec,
  CSIStorageCapacity,
  TokenRequest as StorageTokenRequest,
  VolumeNodeResources,
} from "./storage/csi.ts";
export {
  StorageClass,
  VolumeAttachment,
  VolumeAttachmentSource,
  VolumeAttachmentSpec,
  VolumeAttachmentStatus,
  VolumeError,
} from "./storage/storage-class.ts";
export {
  CrossVersionObjectReference as CrossVersionObjectReferenceV1,
  HorizontalPodAutoscaler as HorizontalPodAutoscalerV1,
  HorizontalPodAutoscalerSpec as HorizontalPodAutoscalerSpecV1,
  HorizontalPodAutoscalerStatus as HorizontalPodAutoscalerStatusV1,
} from "./autoscaling/horizontal-v1.ts";
export {
  AutoscalerAnnotations,
  MetricSpec as MetricSpecV1,
  MetricStatus as MetricStatusV1,
} from "./autoscaling/annotations-v1.ts";
export { SerializedNodeConfigSource } from "./nodeagentconfig/config-source.ts";
export {
  AuthConfig,
  CredentialProvider,
  CredentialProviderConfig,
  CredentialProviderRequest,
  CredentialProviderResponse,
  ExecEnvVar,
} from "./nodeagentconfig/credential-provider.ts";
export {
  type AuthenticationConfig,
  type JwtAuthenticator,
  authenticationConfigs,
} from "./config/authentication.ts";
export {
  type AuthorizationConfig,
  type WebhookAuthorizerConfig,
  authorizationConfigs,
} from "./config/authorization.ts";
export { AuditPolicyFile, AuditPolicyRule } from "./config/audit-policy.ts";
export {
  type EgressConfig,
  type EgressConnection,
  type EgressSelectionConfig,
  type EgressTcp,
  egressConfigKind,
} from "./config/egress.ts";
export {
  type EncryptionConfig,
  type EncryptionProviderConfig,
  type EncryptionRule,
  type KmsConfig,
  encryptionConfigs,
} from "./config/encryption.ts";
export {
  type ConfigKind,
  type ConfigObject,
  configObject,
  decodeConfigObject,
  strictConfigObject,
} from "./config/config-object.ts";
export { webhookResponse, webhookReview } from "./webhook-response.ts";
export { type Amounts as QuotaAmounts, quotaMath } from "./quota/amounts.ts";
export { type QuotaEvaluator, quotaEvaluator } from "./quota/usage.ts";
