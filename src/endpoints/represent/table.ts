// Server-side printing: rows of cells that clients display without knowing the kind.
import type { ApiObject, Column, Strategy } from "#registry";

export type IncludeObject = "None" | "Metadata" | "Object";

export interface ColumnDefinition {
  readonly name: string;
  readonly type: string;
  readonly format: string;
  readonly description: string;
  readonly priority: number;
}

const nameColumn: Column<ApiObject> = {
  name: "Name",
  type: "string",
  format: "name",
  doc: "Name of the object, unique within its kind and namespace.",
  cell: (object) => object.metadata.name ?? "",
};
const createdColumn: Column<ApiObject> = {
  name: "Created At",
  type: "date",
  doc: "Creation time of the object.",
  cell: (object) => object.metadata.creationTimestamp ?? "<unknown>",
};

export const columnsOf = (strategy: Strategy): readonly Column<ApiObject>[] =>
  strategy.columns ?? [nameColumn, createdColumn];

export const columnDefinitions = (strategy: Strategy): ColumnDefinition[] =>
  columnsOf(strategy)
    .filter(({ undeclared }) => !undeclared)
    .map(({ name, type, format, doc, priority }) => ({
      name,
      type,
      format: format ?? "",
      description: doc,
      priority: priority ?? 0,
    }));

export interface Row {
  readonly cells: readonly unknown[];
  readonly conditions?: readonly object[];
  readonly object: unknown;
}

export function rowOf(
  strategy: Strategy,
  hub: ApiObject,
  shown: ApiObject,
  include: IncludeObject,
  apiVersion: string,
  now: Date,
): Row {
  const cells = columnsOf(strategy).map((column) => column.cell(hub, now));
  const conditions = strategy.rowConditions?.(hub);
  return {
    cells,
    ...(conditions && { conditions }),
    object:
      include === "None"
        ? null
        : include === "Object"
          ? shown
          : withoutOwn(partialMetadata(shown, apiVersion), strategy),
  };
}

export function withoutOwn(object: ApiObject, { ownAnnotations }: Strategy): ApiObject {
  if (!ownAnnotations || !object.metadata.annotations) return object;
  const { annotations, ...rest } = object.metadata;
  const others = Object.entries(annotations).filter(([key]) => !ownAnnotations.includes(key));
  return {
    ...object,
    metadata: others.length > 0 ? { ...rest, annotations: Object.fromEntries(others) } : rest,
  };
}

/** The object reduced to its metadata. */
export const partialMetadata = (object: ApiObject, apiVersion: string): ApiObject => ({
  kind: "PartialObjectMetadata",
  apiVersion,
  metadata: object.metadata,
});
