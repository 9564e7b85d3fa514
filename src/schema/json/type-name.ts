// Names of types in kube-apiserver's errors: the last part of the package and the name.

import { type ScalarName, type Shape, typeName } from "../shape.ts";

const scalarNames: Partial<Record<ScalarName, string>> = {
  double: "float64",
  float: "float32",
  bytes: "[]uint8",
  rawBytes: "[]uint8",
  time: "v1.Time",
  microTime: "v1.MicroTime",
  duration: "v1.Duration",
  quantity: "resource.Quantity",
  intOrString: "int32",
  rawExtension: "runtime.RawExtension",
  fieldsV1: "v1.FieldsV1",
  json: "v1.JSON",
};

export function nameOf(shape: Shape): string {
  switch (shape.shape) {
    case "scalar":
      return shape.typeName ?? scalarNames[shape.scalar] ?? shape.scalar;
    case "list":
      return shape.typeName ?? `[]${nameOf(shape.of)}`;
    case "map":
      return shape.typeName ?? `map[string]${nameOf(shape.of)}`;
    case "message":
      return typeName(shape.package, shape.name);
    case "recursive":
      return nameOf(shape.get());
  }
}
