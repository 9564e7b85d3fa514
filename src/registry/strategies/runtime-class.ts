// Runtime classes: the handler that runs a pod, its overhead, and the nodes that support it.
import { RuntimeClass, type Toleration } from "#api";
import { type FieldError, LiteralValue, duplicate } from "#base";
import type { Dialect } from "#dialect";
import { dns1123LabelProblems } from "#schema";
import { validateLabels } from "../object-meta.ts";
import { strategy } from "../strategy.ts";
import { ageColumn, nameColumn } from "./cells/columns.ts";
import { oldNodeLabel } from "./pod-warnings.ts";
import { formatErrors } from "./rules/format.ts";
import { resourceErrors } from "./pod-validation/resources.ts";
import { toleratedTaint, tolerationErrors } from "./pod-validation/tolerations.ts";
import { repeats } from "./rules/repeats.ts";
import { unchanged } from "./rules/unchanged.ts";

function errorsOf({ handler, overhead, scheduling }: RuntimeClass, dialect: Dialect): FieldError[] {
  const errors = formatErrors(handler, "handler", dns1123LabelProblems);
  const rules = { dialect, tolerated: { hugePages: false } };
  errors.push(...resourceErrors({ limits: overhead?.podFixed ?? {} }, new Set(), rules, "overhead"));
  if (!scheduling) return errors;
  const tolerations = scheduling.tolerations ?? [];
  errors.push(
    ...validateLabels(scheduling.nodeSelector, "scheduling.nodeSelector"),
    ...tolerationErrors(tolerations, "scheduling.tolerations.tolerations"),
  );
  const repeated = repeats(toleratedTaint);
  tolerations.forEach((toleration, position) => {
    if (repeated(toleration))
      errors.push(
        duplicate(`scheduling.tolerations[${position}]`, new LiteralValue(shownToleration(toleration))),
      );
  });
  return errors;
}

/** Formats a toleration as Go prints it, with tolerationSeconds as a pointer. */
const shownToleration = ({ key, operator, value, effect, tolerationSeconds }: Toleration): string =>
  `core.Toleration{${Object.entries({ Key: key, Operator: operator, Value: value, Effect: effect })
    .map(([name, text]) => `${name}:${JSON.stringify(text ?? "")}`)
    .join(", ")}, TolerationSeconds:(*int64)(${tolerationSeconds ?? "nil"})}`;

export const runtimeClass = strategy<RuntimeClass>({
  resource: "runtimeclasses",
  singular: "runtimeclass",
  scope: "Cluster",
  hub: RuntimeClass,
  metaChecks: { asNew: 1, anyFinalizer: true },
  createOnUpdate: true,
  conditionalUpdate: true,
  validate: (obj, { dialect }) => errorsOf(obj, dialect),
  validateUpdate: (obj, old, { dialect }) => [
    ...errorsOf(obj, dialect),
    ...unchanged(obj.handler, old.handler, "handler"),
  ],
  warnings: ({ scheduling }, _old, { dialect }) =>
    Object.keys(scheduling?.nodeSelector ?? {}).flatMap((key) => {
      const text = oldNodeLabel(key, dialect);
      return text ? [`scheduling.nodeSelector: ${text}`] : [];
    }),
  columns: [
    nameColumn,
    {
      name: "Handler",
      type: "string",
      doc: "Handler of the container runtime.",
      cell: ({ handler }: RuntimeClass) => handler,
    },
    ageColumn,
  ],
});
