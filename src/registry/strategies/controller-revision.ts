// Controller revisions: snapshots of a set's template. Their data is immutable, only the revision number
// changes.
import { ControllerRevision } from "#api";
import { type FieldError, required } from "#base";
import { strategy } from "../strategy.ts";
import { ageColumn, nameColumn } from "./cells/columns.ts";
import { notNegative } from "./rules/numbers.ts";
import { unchanged } from "./rules/unchanged.ts";

const errorsOf = ({ data, revision }: ControllerRevision): FieldError[] => [
  ...(data ? [] : [required("data", "data is mandatory")]),
  ...notNegative(revision, "revision"),
];

/** Formats the controller that owns the revision: `statefulset.apps/web`. */
function controllerText({ metadata }: ControllerRevision): string {
  const owner = metadata.ownerReferences?.find(({ controller }) => controller);
  if (!owner) return "<none>";
  const group = owner.apiVersion.includes("/") ? `.${owner.apiVersion.split("/")[0]}` : "";
  return `${owner.kind.toLowerCase()}${group}/${owner.name}`;
}

export const controllerRevision = strategy<ControllerRevision>({
  resource: "controllerrevisions",
  singular: "controllerrevision",
  scope: "Namespaced",
  hub: ControllerRevision,
  metaChecks: { asNew: 1 },
  validate: errorsOf,
  validateUpdate: (obj, old) => [...errorsOf(obj), ...unchanged(obj.data, old.data, "data")],
  columns: [
    nameColumn,
    { name: "Controller", type: "string", doc: "Controller that owns the revision.", cell: controllerText },
    {
      name: "Revision",
      type: "string",
      doc: "Revision number.",
      cell: ({ revision }: ControllerRevision) => revision,
    },
    ageColumn,
  ],
});
