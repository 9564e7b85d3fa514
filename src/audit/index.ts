export { type Audit, type AuditSettings, type BackendSettings, openAudit } from "./audit.ts";
export { type AuditMode, type AuditSink } from "./backend.ts";
export {
  type AuditEvent,
  type AuditClient,
  type AuditUser,
  type AuditLevel,
  type ObjectReference,
  type ResponseStatus,
  type Stage,
} from "./event.ts";
export { type AuditMetrics, auditMetrics } from "./metrics.ts";
export {
  type AuditConfig,
  type AuditPolicy,
  type PolicyRequest,
  parsePolicy,
  readPolicyFile,
} from "./policy.ts";
export { AuditRecord, type RecordedRequest } from "./record.ts";
