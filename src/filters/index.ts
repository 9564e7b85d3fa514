export { Lifecycle, type Edge } from "./lifecycle.ts";
export { storeErrorToStatus } from "./store-error.ts";
export { requestMetrics, type RequestMetrics } from "./request-metrics.ts";
export { attributesOf, authorizeOrThrow } from "./authorize.ts";
export { filters, requestHandler } from "./pipeline.ts";
export { logUnexpected, recover } from "./recover.ts";
export { newAuditId } from "./audit-id.ts";
export { warningValues } from "./common-headers.ts";
export { sourceIps } from "./audit.ts";
