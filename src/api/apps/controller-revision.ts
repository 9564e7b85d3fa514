// Controller revisions: saved states of stateful sets and daemon sets.
import { type TypeOf, embedded, int64, rawExtension, required } from "#schema";
import { ObjectMeta } from "../meta/object-meta.ts";
import { apps } from "../packages.ts";

const { kind } = apps;

export const ControllerRevision = kind(
  "ControllerRevision",
  "An immutable snapshot of the state of a controller, used for updates and rollbacks.",
  {
    metadata: embedded(1, ObjectMeta, "Standard object metadata."),
    data: embedded(2, rawExtension, "Serialized state."),
    revision: required(3, int64, "Number of the revision, which increases with each new state."),
  },
);
export type ControllerRevision = TypeOf<typeof ControllerRevision>;
