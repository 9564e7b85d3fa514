export {
  type CachedObject,
  type Selected,
  atRevision,
  fromStored,
  withRevision,
  sameContent,
  uidOf,
  withoutRevision,
} from "./cached-object.ts";
export { Change, Frame, type FrameEncoder, type FrameType, bytesOf } from "./frame.ts";
export {
  type Freshness,
  type ListQuery,
  type ListResult,
  RevisionTimeout,
  type ObjectSource,
  type WatchQuery,
  type FrameSink,
} from "./source.ts";
export type { HistoryBounds } from "./history.ts";
export type { CacheStats } from "./cache-stats.ts";
export { type Reader, ResourceCache } from "./resource-cache.ts";
export { StoreReflector, type StoreReflectorOptions } from "./store-reflector.ts";
export type { InStoreOptions } from "./holding.ts";
export { DirectSource } from "./direct.ts";
export { selectMatching } from "./page.ts";
export { copyItem, isForOneAnswer, itemBytes, unspliced } from "./unspliced.ts";
