// Tables of objects for human readers, and objects reduced to their metadata.
import { type TypeOf, embedded, int32, json, list, optional, rawExtension, required, string } from "#schema";
import { meta, metaGroup } from "../packages.ts";
import { ListMeta, ObjectMeta } from "./object-meta.ts";

const { message } = meta;
const { kind: metaKind } = metaGroup;

export const TableColumnDefinition = message("TableColumnDefinition", "One column.", {
  name: required(1, string, "Heading."),
  type: required(2, string, "JSON type of the cells: number, integer, string, boolean, array or object."),
  format: required(3, string, "Further says what the cells hold, such as name or date."),
  description: required(4, string, "What the column means."),
  priority: required(5, int32, "0 is always shown; higher ones only where there is room."),
});
export type TableColumnDefinition = TypeOf<typeof TableColumnDefinition>;

export const TableRowCondition = message("TableRowCondition", "One aspect of a row's state.", {
  type: required(1, string, "What the condition is about; Completed is known."),
  status: required(2, string, "True, False or Unknown."),
  reason: optional(3, string, "One CamelCase word for the last change."),
  message: optional(4, string, "The last change, for people."),
});
export type TableRowCondition = TypeOf<typeof TableRowCondition>;

export const TableRow = message("TableRow", "One object.", {
  cells: required(1, list(json), "The values, one for each column."),
  conditions: optional(2, list(TableRowCondition), "What is special about the row."),
  object: embedded(3, rawExtension, "The object or its metadata, when asked for."),
});
export type TableRow = TypeOf<typeof TableRow>;

export const Table = metaKind("Table", "Objects rendered as a table by the server.", {
  metadata: embedded(1, ListMeta, "Position and version of the list."),
  columnDefinitions: required(2, list(TableColumnDefinition), "The columns."),
  rows: required(3, list(TableRow), "The rows."),
});
export type Table = TypeOf<typeof Table>;

export const TableOptions = metaKind("TableOptions", "How much of the objects a table carries.", {
  includeObject: optional(1, string, "None, Metadata or Object."),
});
export type TableOptions = TypeOf<typeof TableOptions>;

export const PartialObjectMetadata = metaKind(
  "PartialObjectMetadata",
  "Any object, of which only the metadata is shown.",
  {
    metadata: embedded(1, ObjectMeta, "Name, labels and whatever else every object carries."),
  },
);
export type PartialObjectMetadata = TypeOf<typeof PartialObjectMetadata>;
