export { type AccountClientOptions, accountClients } from "./account-clients.ts";
export { abortable } from "./abortable.ts";
export {
  type ClaimOptions,
  claim,
  controllerOf,
  controllerReference,
  isControlledBy,
  selects,
  selectsMap,
} from "./adoption.ts";
export {
  type ClusterView,
  type FollowedKind,
  type Scope,
  type Seen,
  type SharedInformer,
  type ViewOptions,
  clusterView,
  startInformer,
} from "./cluster-view.ts";
export {
  type ContextOptions,
  type Controller,
  type ControllerContext,
  type QueueOptions,
  contextFor,
  queueFor,
  recorderFor,
  sharedContext,
} from "./context.ts";
export {
  type Discovered,
  type MetadataClient,
  type ServedResource,
  discover,
  metadataClient,
  resourceText,
} from "./discovery.ts";
export { type ResourceOfKind, groupOf, resourceOfKind } from "./kind-resources.ts";
export { reused } from "./reused.ts";
export { type Expectations, expectations } from "./expectations.ts";
export {
  ignoreReasons,
  isAlreadyExists,
  isConflict,
  isNamespaceTerminating,
  isNotFound,
  orUndefined,
} from "./ignore-reasons.ts";
export { type WorkQueue, type WorkQueueOptions, workQueue } from "./work-queue.ts";
export { type PatchTarget, patchObject, replaceObject, withoutUndefined, writeStatus } from "./writes.ts";
export {
  type MatchOptions,
  type SeenClaim,
  type SeenVolume,
  claimClass,
  findMatchingVolume,
  hasModes,
  isLargeEnough,
  isReservedFor,
  sameVolumeMode,
  volumeClass,
} from "./volume-match.ts";
export { type ElectionOptions, runAsLeader } from "./leader-election.ts";
export { type LeaderHealth, leaderHealth } from "./leader-health.ts";
