// Run-time type check of an argument whose type is not known statically.

import { isMapLike } from "./operations.ts";
import type { CelType } from "./types.ts";
import { Double, Duration, Opaque, Timestamp, TypeValue, Uint, type Value, isInt, isList } from "./values.ts";

export function accepts(type: CelType, value: Value): boolean {
  switch (type.kind) {
    case "bool":
      return typeof value === "boolean";
    case "int":
      return isInt(value);
    case "uint":
      return value instanceof Uint;
    case "double":
      return value instanceof Double;
    case "string":
      return typeof value === "string";
    case "bytes":
      return value instanceof Uint8Array;
    case "timestamp":
      return value instanceof Timestamp;
    case "duration":
      return value instanceof Duration;
    case "null":
      return value === null;
    case "list":
      return isList(value);
    case "map":
      return isMapLike(value);
    case "type":
      return value instanceof TypeValue;
    case "object":
    case "abstract":
      return value instanceof Opaque
        ? "name" in value.type && value.type.name === type.name
        : isMapLike(value);
    case "dyn":
    case "param":
    case "error":
      return true;
    case "absent":
      return false;
  }
}
