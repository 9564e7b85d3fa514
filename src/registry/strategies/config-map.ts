// Config maps: limited in size, with keys that are valid file names, and optionally immutable.
import { ConfigMap } from "#api";
import { type FieldError, invalidValue, maxFieldErrors, tooLong } from "#base";
import { strategy } from "../strategy.ts";
import { ageColumn, nameColumn } from "./cells/columns.ts";
import { base64Bytes, dataKeyErrors, maxDataBytes } from "./rules/data-key.ts";
import { immutableErrors } from "./rules/immutable.ts";

/** The field path of an error that concerns the whole object. */
const wholeObject = "[]";

function errorsOf({ data, binaryData }: ConfigMap): FieldError[] {
  const errors: FieldError[] = [];
  let size = 0;
  for (const key in data) {
    if (errors.length < maxFieldErrors) errors.push(...dataKeyErrors(key, "data"));
    if (binaryData && Object.hasOwn(binaryData, key))
      errors.push(invalidValue(`data[${key}]`, key, "duplicate of key present in binaryData"));
    size += Buffer.byteLength(data[key]!);
  }
  for (const key in binaryData) {
    if (errors.length < maxFieldErrors) errors.push(...dataKeyErrors(key, "binaryData"));
    size += base64Bytes(binaryData[key]!);
  }
  if (size > maxDataBytes) errors.push(tooLong(wholeObject, "", maxDataBytes));
  return errors;
}

export const configMap = strategy<ConfigMap>({
  resource: "configmaps",
  singular: "configmap",
  shortNames: ["cm"],
  scope: "Namespaced",
  hub: ConfigMap,
  metaChecks: { asNew: 1 },
  validate: errorsOf,
  validateUpdate: (obj, old) => [...immutableErrors(obj, old, ["data", "binaryData"]), ...errorsOf(obj)],
  columns: [
    nameColumn,
    {
      name: "Data",
      type: "string",
      doc: "Number of entries.",
      cell: ({ data, binaryData }: ConfigMap) =>
        Object.keys(data ?? {}).length + Object.keys(binaryData ?? {}).length,
    },
    ageColumn,
  ],
});
