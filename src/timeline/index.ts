export { type ServedTimeline, type TimelineOptions, timeline } from "./timeline.ts";
export { type DefinedKinds, Kinds } from "./kinds.ts";
export { ObjectJournal, type ObjectJournalOptions } from "./object-journal.ts";
export { journalFiles } from "./journal-files.ts";
export { type EventLimits } from "./event-budget.ts";
export { EventRetention } from "./event-retention.ts";
export { EventSummaries, derivedInMemory } from "./event-summaries.ts";
export { EventFolding } from "./event-folding.ts";
export { Writers } from "./writers.ts";
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
