// The scale of a defined kind: numbers and a selector at places its definition names.
import type { CustomResourceSubresourceScale } from "#api";
import { type FieldError, internal, invalidValue } from "#base";
import type { ApiObject, ScaleView } from "#registry";
import { isObject } from "../structural/structural.ts";

const stepsOf = (path: string): string[] => path.replace(/^\./, "").split(".");

/** The value at a path; undefined where there is none. */
function at(object: unknown, path: string): unknown {
  let value: unknown = object;
  for (const step of stepsOf(path)) {
    if (!isObject(value)) return undefined;
    value = value[step];
  }
  return value;
}

export function customScale(paths: CustomResourceSubresourceScale): ScaleView<ApiObject> {
  const replicasPath = stepsOf(paths.specReplicasPath);
  const number = (object: ApiObject, path: string): number => {
    const value = at(object, path);
    return typeof value === "number" ? value : 0;
  };
  return {
    replicasPath,
    ownRules: true,
    replicas: (object) => {
      if (typeof at(object, paths.specReplicasPath) !== "number")
        throw internal(`the spec replicas field "${paths.specReplicasPath}" does not exist`);
      return number(object, paths.specReplicasPath);
    },
    setReplicas: (object, replicas) => {
      let target = object as unknown as Record<string, unknown>;
      for (const step of replicasPath.slice(0, -1)) {
        if (!isObject(target[step])) target[step] = {};
        target = target[step] as Record<string, unknown>;
      }
      target[replicasPath.at(-1)!] = replicas;
    },
    observed: (object) => number(object, paths.statusReplicasPath),
    selector: (object) => {
      const value = paths.labelSelectorPath ? at(object, paths.labelSelectorPath) : undefined;
      return typeof value === "string" ? value : "";
    },
  };
}

const largest = 2 ** 31 - 1;

function countErrors(object: unknown, path: string): FieldError[] {
  const value = at(object, path);
  if (value === undefined) return [];
  if (typeof value !== "number" || !Number.isInteger(value))
    return [invalidValue(path, 0, `${path} accessor error: ${String(value)} is not an integer`)];
  if (value < 0) return [invalidValue(path, value, "should be a non-negative integer")];
  return value > largest ? [invalidValue(path, value, `should be less than or equal to ${largest}`)] : [];
}

export const scaleSpecErrors = (
  object: unknown,
  scale: CustomResourceSubresourceScale | undefined,
): FieldError[] => (scale ? countErrors(object, scale.specReplicasPath) : []);

export function scaleStatusErrors(
  object: unknown,
  scale: CustomResourceSubresourceScale | undefined,
): FieldError[] {
  if (!scale) return [];
  const errors = countErrors(object, scale.statusReplicasPath);
  const path = scale.labelSelectorPath;
  const selector = path ? at(object, path) : undefined;
  if (path && selector !== undefined && typeof selector !== "string")
    errors.push(invalidValue(path, "", `${path} accessor error: it is not a string`));
  return errors;
}
