export { YieldBudget, isLarge } from "./yield-budget.ts";
export {
  type ApiObject,
  type RequestContext,
  type Column,
  type KindSchema,
  type PartSubresource,
  type ScaleView,
  type RegistrySettings,
  type Served,
  type PendingReservations,
  type Strategy,
  type Verb,
  allVerbs,
  strategy,
} from "./strategy.ts";
export { ageColumn, ago, nameColumn } from "./strategies/cells/columns.ts";
export {
  type EncodedObject,
  type Endpoint,
  Resource,
  type StorageConversion,
  type StorageMedia,
} from "./resource.ts";
export { type WriteRequest, normalizeOwnerReferences, timestamp } from "./request.ts";
export { defaulted } from "./defaulting.ts";
export { create } from "./create.ts";
export { type ObjectUpdate, type UpdateResult, update } from "./update.ts";
export { type Removal, remove, validateDeleteOptions } from "./remove.ts";
export { type ChangedScale, type ScaleChange, applyObject, changeScale } from "./field-owners.ts";
export type { AdmissionView } from "./write-context.ts";
export {
  maxManagerLength,
  managerErrors,
  validateAnnotations,
  validateFinalizersQualified,
  validateLabels,
  validateMeta,
  validateMetaUpdate,
} from "./object-meta.ts";
export { type NameRule, dns1035Label, dnsLabel, dnsSubdomain, generatedName, pathSegment } from "./names.ts";
export { gatedStrategies } from "./gated-strategies.ts";
export { gatesOfFields } from "./gated-fields.ts";
export { builtInStrategies } from "./strategies/index.ts";
export { withLaterPolicies } from "./strategies/admission-policy.ts";
export { systemClasses } from "./strategies/priority-class.ts";
export { tolerationErrors } from "./strategies/pod-validation/tolerations.ts";
export { type ServiceAllocator, serviceWith } from "./strategies/service.ts";
export { needsHealthCheck } from "./strategies/service-fields.ts";
export { mandatoryFlowSchemas } from "./strategies/flow-schema.ts";
export { mandatoryLevelsOf, withLaterFlows } from "./strategies/priority-level.ts";
export { addressNumber, ordinaryIpErrors, parseIp } from "./strategies/rules/address.ts";
export {
  type ResourceHandle,
  type Resources,
  type ServerObjects,
  type ServerWriter,
  resourceHandles,
  resourceId,
  serverWriter,
} from "./server-objects.ts";
export { clientErrors as webhookClientErrors } from "./strategies/webhook-configuration.ts";
