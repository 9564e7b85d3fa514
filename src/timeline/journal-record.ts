// One change of an object, as the journal keeps and persists it, in plain JSON.
import type { ChangeInfo } from "./wire.ts";

export interface JournalRecord extends Omit<ChangeInfo, "resourceVersion"> {
  /** Increasing number within this server's journal. */
  readonly sequence: number;
  readonly type: "Created" | "Changed" | "Deleted";
  /** Microseconds since the epoch. */
  readonly time: number;
  readonly revision: number;
  readonly group: string;
  readonly kind: string;
  readonly resource: string;
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
}
