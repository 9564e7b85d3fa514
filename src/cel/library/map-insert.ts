// The function behind transformMap and transformMapEntry. Their loops insert entries directly: only the
// checker and the cost estimate see the call.

import { type Library, declare, overload } from "../declarations.ts";
import { mapOf, typeParam } from "../types.ts";
import { noSuchOverload } from "../values.ts";

const k = typeParam("K");
const v = typeParam("V");
const map = mapOf(k, v);
const inLoop = (): never => {
  throw noSuchOverload();
};

export const mapInsertLibrary: Library = [
  declare(
    "cel.@mapInsert",
    overload("@mapInsert_map_key_value", [map, k, v], map, inLoop),
    overload("@mapInsert_map_map", [map, map], map, inLoop),
  ),
];
