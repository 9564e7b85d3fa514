// The scale subresource of a custom kind: numbers and a selector at paths that its definition states.
import type { CustomResourceDefinitionSpec, CustomResourceSubresourceScale } from "#api";
import { type FieldError, goPlain, goType, invalidValue, own, setOwn } from "#base";
import type { ApiObject, ScaleView } from "#registry";
import { isObject } from "../structural/structural.ts";

const stepsOf = (path: string): string[] => path.replace(/^\./, "").split(".");

/** Returns the value at a path, or undefined if the path leads nowhere. */
function at(object: unknown, path: string): unknown {
  let value: unknown = object;
  for (const step of stepsOf(path)) {
    if (!isObject(value)) return undefined;
    value = own(value, step);
  }
  return value;
}

export function customScale(
  paths: CustomResourceSubresourceScale,
  { group, versions }: Pick<CustomResourceDefinitionSpec, "group" | "versions">,
): ScaleView<ApiObject> {
  const replicasPath = stepsOf(paths.specReplicasPath);
  const number = (object: ApiObject, path: string): number => {
    const value = at(object, path);
    return typeof value === "number" ? value : 0;
  };
  return {
    replicasPath,
    replicasPaths: Object.fromEntries(
      (versions ?? []).map(({ name, subresources }) => {
        const { specReplicasPath } = subresources?.scale ?? {};
        return [`${group}/${name}`, specReplicasPath === undefined ? null : stepsOf(specReplicasPath)];
      }),
    ),
    ownRules: true,
    replicas: (object) => {
      const value = at(object, paths.specReplicasPath);
      return typeof value === "number" ? value : undefined;
    },
    setReplicas: (object, replicas) => {
      let target = object as unknown as Record<string, unknown>;
      for (const step of replicasPath.slice(0, -1)) {
        if (!isObject(own(target, step))) setOwn(target, step, {});
        target = target[step] as Record<string, unknown>;
      }
      setOwn(target, replicasPath.at(-1)!, replicas);
    },
    observed: (object) => number(object, paths.statusReplicasPath),
    selector: (object) => {
      const value = paths.labelSelectorPath ? at(object, paths.labelSelectorPath) : undefined;
      return typeof value === "string" ? value : "";
    },
  };
}

const largest = 2 ** 31 - 1;

/** Returns the error of reading a value of a type at a path. */
function accessError(object: unknown, path: string, type: string): string | undefined {
  const steps = stepsOf(path);
  let value: unknown = object;
  for (const [i, step] of steps.entries()) {
    if (value === null || value === undefined) return undefined;
    if (!isObject(value))
      return `.${steps.slice(0, i + 1).join(".")} accessor error: ${mismatch(value, "map[string]interface{}")}`;
    if (!Object.hasOwn(value, step)) return undefined;
    value = value[step];
  }
  return goType(value) === type ? undefined : `${path} accessor error: ${mismatch(value, type)}`;
}

const mismatch = (value: unknown, wanted: string): string =>
  `${goPlain(value)} is of the type ${goType(value)}, expected ${wanted}`;

function countErrors(object: unknown, path: string): FieldError[] {
  const error = accessError(object, path, "int64");
  if (error !== undefined) return [invalidValue(path, 0, error)];
  const value = at(object, path) as number | bigint | undefined;
  if (value === undefined) return [];
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
  const error = path ? accessError(object, path, "string") : undefined;
  if (path && error !== undefined) errors.push(invalidValue(path, "", error));
  return errors;
}
