// Watch events.
import { type TypeOf, embedded, rawExtension, required, string } from "#schema";
import { meta } from "../packages.ts";

const { message } = meta;

export const WatchEvent = message("WatchEvent", "An event sent to a watcher.", {
  type: required(1, string, "Type of the event: ADDED, MODIFIED, DELETED, BOOKMARK or ERROR."),
  object: embedded(
    2,
    rawExtension,
    "The object after the change, its last state for DELETED, or a Status for ERROR.",
    { published: "required" },
  ),
});
export type WatchEvent = TypeOf<typeof WatchEvent>;
