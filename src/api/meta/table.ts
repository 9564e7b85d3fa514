// Tables of objects for human readers, and objects reduced to their metadata.
import { type TypeOf, embedded, int32, json, list, optional, rawExtension, required, string } from "#schema";
import { meta, metaGroup } from "../packages.ts";
import { ListMeta, ObjectMeta } from "./object-meta.ts";

const { message } = meta;
const { kind: metaKind } = metaGroup;

export const TableColumnDefinition = message("TableColumnDefinition", "A column of a table.", {
  name: required(1, string, "Human-readable name of the column."),
  type: required(2, string, "JSON type of the cells: number, integer, string, boolean, array or object."),
  format: required(3, string, "Optional format of the values, such as name or date, as in OpenAPI."),
  description: required(4, string, "Human-readable description of the column."),
  priority: required(
    5,
    int32,
    "Priority; columns with 0 are always shown, higher values only if there is space.",
  ),
});
export type TableColumnDefinition = TypeOf<typeof TableColumnDefinition>;

export const TableRowCondition = message("TableRowCondition", "A condition of a table row.", {
  type: required(1, string, "Type of the condition; the only known type is Completed."),
  status: required(2, string, "Status of the condition: True, False or Unknown."),
  reason: optional(3, string, "Machine-readable reason for the last transition, one CamelCase word."),
  message: optional(4, string, "Human-readable details of the last transition."),
});
export type TableRowCondition = TypeOf<typeof TableRowCondition>;

export const TableRow = message("TableRow", "A row of a table, which represents an object.", {
  cells: required(1, list(json), "Values of the cells, one for each column."),
  conditions: optional(2, list(TableRowCondition), "Conditions of the row."),
  object: embedded(
    3,
    rawExtension,
    "Requested information on the object: its metadata or the whole object, or nothing.",
  ),
});
export type TableRow = TypeOf<typeof TableRow>;

export const Table = metaKind("Table", "A tabular representation of objects, rendered by the server.", {
  metadata: embedded(1, ListMeta, "Standard list metadata."),
  columnDefinitions: required(2, list(TableColumnDefinition), "Definitions of the columns."),
  rows: required(3, list(TableRow), "Rows of the table."),
});
export type Table = TypeOf<typeof Table>;

export const TableOptions = metaKind("TableOptions", "Query options of a request for a table.", {
  includeObject: optional(
    1,
    string,
    "What each row includes of its object: None, Metadata (default) or Object.",
  ),
});
export type TableOptions = TypeOf<typeof TableOptions>;

export const PartialObjectMetadata = metaKind(
  "PartialObjectMetadata",
  "Metadata of an object of any kind, without the other fields.",
  {
    metadata: embedded(1, ObjectMeta, "Standard object metadata."),
  },
);
export type PartialObjectMetadata = TypeOf<typeof PartialObjectMetadata>;
