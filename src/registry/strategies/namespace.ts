// Namespaces: labelled with their own name, and deleted once their finalizers are removed.
import { Namespace } from "#api";
import { type FieldError, invalidValue, isLabelValue } from "#base";
import type { Dialect } from "#dialect";
import { dnsLabel } from "../names.ts";
import { validateFinalizersQualified } from "../object-meta.ts";
import { type RequestContext, strategy } from "../strategy.ts";
import { ageColumn, nameColumn } from "./cells/columns.ts";
import { qualifiedNameErrors } from "./rules/format.ts";
import { statusPart } from "./parts.ts";

/** Sets the name label. Labels are sorted, so that a client that sends the label gets the same object. */
function labelWithName({ metadata }: Namespace, { names }: Dialect): void {
  if (!metadata.name) return;
  const labels = Object.entries({ ...metadata.labels, [names.labels.namespaceName]: metadata.name });
  metadata.labels = Object.fromEntries(labels.toSorted(([a], [b]) => (a < b ? -1 : 1)));
}

const isGoing = ({ metadata }: Namespace): boolean => Boolean(metadata.deletionTimestamp);

function finalizerErrors(name: string, field: string, dialect: Dialect): FieldError[] {
  return [
    ...qualifiedNameErrors(name, field),
    ...validateFinalizersQualified([name], dialect, field).map((error) => ({ ...error, field })),
  ];
}

const errorsOf = (namespace: Namespace, ctx: RequestContext): FieldError[] =>
  (namespace.spec.finalizers ?? []).flatMap((name) => finalizerErrors(name, "spec.finalizers", ctx.dialect));

export const namespace = strategy<Namespace>({
  resource: "namespaces",
  singular: "namespace",
  shortNames: ["ns"],
  scope: "Cluster",
  hub: Namespace,
  metaChecks: { asNew: 1 },
  verbs: ["create", "delete", "get", "list", "patch", "update", "watch"],
  status: "cleared",
  returnsDeleted: true,
  deletedByUid: true,
  validateName: dnsLabel,
  defaults: (obj, { dialect }) => labelWithName(obj, dialect),
  prepareForCreate: (obj, { dialect }) => {
    const own = dialect.data.namespaceFinalizer;
    const given = obj.spec.finalizers ?? [];
    obj.spec.finalizers = given.includes(own) ? given : [...given, own];
    obj.status = { phase: "Active" };
    // A generated name that is invalid is reported as a name only, not also as a label value.
    if (isLabelValue(obj.metadata.name ?? "")) labelWithName(obj, dialect);
  },
  prepareForUpdate: (obj, old) => {
    obj.spec.finalizers = old.spec.finalizers;
  },
  validate: errorsOf,
  beginDeletion: (obj, _ctx, finalizers) => {
    if (finalizers) obj.metadata.finalizers = [...finalizers];
    obj.status = { ...obj.status, phase: "Terminating" };
  },
  deletionBlocked: (obj) => Boolean(obj.spec.finalizers?.length),
  fields: ({ status }) => ({ "status.phase": status.phase ?? "" }),
  columns: [
    nameColumn,
    {
      name: "Status",
      type: "string",
      doc: "Phase: Active, or Terminating while the contents are deleted.",
      cell: ({ status }: Namespace) => status.phase ?? "",
    },
    ageColumn,
  ],
  subresources: {
    status: statusPart((obj) => {
      const only = isGoing(obj) ? "Terminating" : "Active";
      return obj.status.phase === only
        ? []
        : [
            invalidValue(
              "status.Phase",
              obj.status.phase ?? "",
              `may only be '${only}' if \`deletionTimestamp\` is ${isGoing(obj) ? "not empty" : "empty"}`,
            ),
          ];
    }),
    finalize: {
      verbs: ["update"],
      untabled: true,
      merge: (sent, old) => ({ ...sent, status: old.status }),
      validate: (obj, _old, { dialect }) =>
        (obj.spec.finalizers ?? []).flatMap((name, position) =>
          finalizerErrors(name, `spec.finalizers[${position}]`, dialect),
        ),
      resets: ["status"],
    },
  },
});
