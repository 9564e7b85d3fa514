export {
  type Attributes,
  type Authorizer,
  type Decision,
  type KnownRules,
  type ResourceTarget,
  alwaysAllow,
  alwaysAllowPaths,
  alwaysDeny,
  authorizerOf,
  describe,
  forbiddenError,
  noOpinion,
  privilegedGroups,
} from "./authorizer.ts";
export { compact, describeRule, ruleAllows, uncovered } from "./rules.ts";
export { type RbacAuthorizer, type RbacSource, rbacAuthorizer } from "./rbac.ts";
export { type EscalationOptions, checkBinding, checkRole, onlyOwnershipChanged } from "./escalation.ts";
