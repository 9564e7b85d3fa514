// Watch events.
import { type TypeOf, embedded, rawExtension, required, string } from "#schema";
import { meta } from "../packages.ts";

const { message } = meta;

export const WatchEvent = message("WatchEvent", "A change, or a mark in the stream.", {
  type: required(1, string, "ADDED, MODIFIED, DELETED, BOOKMARK or ERROR."),
  object: embedded(
    2,
    rawExtension,
    "The object after the change (before it, for DELETED), or a Status for ERROR.",
    { published: "required" },
  ),
});
export type WatchEvent = TypeOf<typeof WatchEvent>;
