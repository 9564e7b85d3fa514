// Controller revisions: saved states of stateful sets and daemon sets.
import { type TypeOf, embedded, int64, rawExtension, required } from "#schema";
import { ObjectMeta } from "../meta/object-meta.ts";
import { apps } from "../packages.ts";

const { kind } = apps;

export const ControllerRevision = kind("ControllerRevision", "A state to go back to; never changes.", {
  metadata: embedded(1, ObjectMeta, "Name, labels and whatever else every object carries."),
  data: embedded(2, rawExtension, "The saved state."),
  revision: required(3, int64, "Number of the state."),
});
export type ControllerRevision = TypeOf<typeof ControllerRevision>;
