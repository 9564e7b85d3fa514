export { type Held, type Known, heldAt, hold, saysTheSame, uidOf, withoutRevision } from "./held.ts";
export { Change, Frame, type FrameEncoder, type FrameType, bytesOf } from "./frame.ts";
export {
  type Freshness,
  type ListQuery,
  type Listing,
  NotYet,
  type ObjectSource,
  type WatchQuery,
  type Watcher,
} from "./source.ts";
export type { HistoryBounds } from "./history.ts";
export { type Reader, ResourceCache } from "./resource-cache.ts";
export { Feed, type FeedOptions } from "./feed.ts";
export { DirectSource } from "./direct.ts";
