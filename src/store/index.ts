export { type Batch, type Change, Compacted, type Entry, FutureRevision, type Outcome, type Page, type Range, type Revision, type Store, type StoreStatus, type Write } from "./store.ts";
