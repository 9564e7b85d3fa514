export { dumpLevels, dumpQueues, dumpRequests } from "./dump.ts";
export {
  type Admission,
  type Flow,
  FlowControl,
  type FlowControlOptions,
  type NamedSchema,
  type SchemaSpec,
} from "./flow-control.ts";
export type { LevelSpec, NamedLevel } from "./level.ts";
export type { ListRequest, RequestDigest } from "./request-digest.ts";
