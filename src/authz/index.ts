export {
  type Attributes,
  type Authorizer,
  type Decision,
  type KnownRules,
  type ResourceTarget,
  type Selectors,
  alwaysAllow,
  alwaysAllowPaths,
  alwaysDeny,
  authorizerOf,
  describe,
  forbiddenError,
  escapeMarkup,
  noOpinion,
  privilegedGroups,
} from "./authorizer.ts";
export { compact, describeRule, ruleAllows, uncovered } from "./rules.ts";
export { selectorsOf } from "./selectors.ts";
export { withDenialLog } from "./denial-log.ts";
export { type RbacAuthorizer, type RbacSource, rbacAuthorizer } from "./rbac.ts";
export { type NodeAuthorizerOptions, nodeAuthorizer } from "./node.ts";
export { podReferences } from "./node-references.ts";
export { type EscalationOptions, checkBinding, checkRole, onlyOwnershipChanged } from "./escalation.ts";
export { type BootstrapPolicy, bootstrapPolicy, nodeRules, policyGates } from "./bootstrap-policy.ts";
export { type GateCheck, policyRules } from "./policy-text.ts";
export { type Reconciled, reconcile, reconcileBinding, reconcileRole } from "./reconcile.ts";
export { aggregatedRules } from "./aggregation.ts";
export {
  type Impersonation,
  type ImpersonationCheck,
  UserMissing,
  impersonation,
  isImpersonationHeader,
} from "./impersonation.ts";
export {
  explainReview,
  reviewAccess,
  reviewLocalAccess,
  reviewOwnAccess,
  reviewOwnRules,
} from "./reviews.ts";
export { type AbacAuthorizer, abacAuthorizer, parseAbac } from "./abac.ts";
export { type WebhookAuthorizerOptions, webhookAuthorizer } from "./webhook.ts";
export {
  type ConfiguredAuthorizer,
  type FailurePolicy,
  type WebhookSettings,
  parseAuthorizationConfig,
} from "./authorization-config.ts";
export {
  type AccessExplainer,
  type Explanation,
  type NamedAuthorizer,
  type RoleRules,
  type Suggestion,
  accessExplainer,
  explainHeader,
  explanationAnnotation,
  narrowestRules,
} from "./explain.ts";
