export { type TimelineOptions, timeline } from "./timeline.ts";
export type {
  BucketGroup,
  BucketList,
  ChangeInfo,
  EntryType,
  EventInfo,
  FieldChange,
  LaneList,
  ListMeta,
  Missing,
  OwnerInfo,
  SeriesInfo,
  Timeline,
  TimelineEntry,
  TimelineFrame,
  TimelineLane,
  TimelineObject,
} from "./wire.ts";
