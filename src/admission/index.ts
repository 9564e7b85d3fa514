export {
  type UserInfo,
  type AdmissionPlugin,
  type AdmissionAttributes,
  type VersionedObjects,
  type Equivalent,
  type KindName,
  type Operation,
  type ResourceName,
  type Slot,
  WriteState,
  replaceContents,
  slot,
  typed,
  virtualAttributes,
} from "./attributes.ts";
export { type AdmissionChain, admissionChain } from "./chain.ts";
export type { AdmissionObserver } from "./step-times.ts";
export {
  type OwnerOptions,
  alwaysAdmit,
  alwaysDeny,
  denyServiceExternalIPs,
  ownerReferencesPermission,
} from "./plugins/denials.ts";
export { type NodeRestrictionOptions, nodeRestriction } from "./plugins/node-restriction.ts";
export { namespaceAutoProvision, namespaceExists } from "./plugins/namespace-existence.ts";
export { type EventLimit, eventRateLimit } from "./plugins/event-rate-limit.ts";
export { type ImagePolicyOptions, imagePolicyWebhook } from "./plugins/image-policy-webhook.ts";
export {
  type ClusterNodeSelectors,
  type ClusterTolerations,
  podNodeSelector,
  podTolerationRestriction,
} from "./plugins/namespace-annotations.ts";
export {
  alwaysPullImages,
  extendedResourceToleration,
  limitHardAntiAffinity,
  securityContextDeny,
} from "./plugins/pod-limits.ts";
export {
  type NamespaceLookup,
  type NamespaceState,
  namespaceLifecycle,
} from "./plugins/namespace-lifecycle.ts";
export { certificatePlugins } from "./plugins/certificates.ts";
export { defaultIngressClass, defaultStorageClass } from "./plugins/default-class.ts";
export { limitRanger } from "./plugins/limit-ranger.ts";
export { claimResize, storageProtection } from "./plugins/storage.ts";
export { defaultTolerationSeconds } from "./plugins/default-toleration-seconds.ts";
export { type PriorityOptions, priorityPlugin } from "./plugins/priority.ts";
export {
  type PodSecurityExemptions,
  type PodSecurityOptions,
  podSecurity,
  type PodSecurityObserver,
} from "./plugins/pod-security/pod-security.ts";
export { type Policy as SecurityPolicy } from "./plugins/pod-security/policy.ts";
export { type LimitedResource, type QuotaOptions, resourceQuota } from "./plugins/quota/resource-quota.ts";
export { runtimeClassPlugin } from "./plugins/runtime-class.ts";
export { type ServiceAccountOptions, serviceAccountPlugin } from "./plugins/service-account.ts";
export { taintNodesByCondition } from "./plugins/taint-nodes-by-condition.ts";
export { type Conditions, conditionsOf } from "./expressions/conditions.ts";
export { type Expressions, admissionExpressions } from "./expressions/expressions.ts";
export { type MutatingOptions, mutatingWebhooks } from "./webhooks/mutating.ts";
export { type ValidatingOptions, type WebhookOptions, validatingWebhooks } from "./webhooks/validating.ts";
export { type WebhookMetrics, webhookMetrics } from "./webhooks/metrics.ts";
export {
  type CredentialsFor,
  type PostReview,
  type ResolveService,
  type WebhookCredentials,
  type WebhookReply,
  webhookTransport,
  type WebhookExchange,
} from "./webhooks/transport.ts";
export { reviewDocument } from "./webhooks/review-document.ts";
export { compileVariables } from "./policies/variables.ts";
export { type ExpressionWarning, type KnownKinds, typeWarnings } from "./policies/type-warnings.ts";
export { type PolicyMetrics, policyMetrics } from "./policies/metrics.ts";
export { type FindParams, type PolicyOptions, admissionPolicies } from "./policies/policies.ts";
