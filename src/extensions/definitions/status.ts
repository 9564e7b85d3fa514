// Computes the status of a definition: accepted names, whether it is established, whether its group is
// approved, and why an old schema is not structural.
import type { CustomResourceDefinition } from "#api";
import type { Dialect } from "#dialect";
import { isDeepStrictEqual } from "node:util";
import type { SchemaProps } from "../structural/structural.ts";
import { approvalOf } from "./approval.ts";
import { type NewCondition, removeCondition, setCondition } from "./conditions.ts";
import { decideNames } from "./names.ts";
import { notStructural, structuralErrors } from "./structural-rules.ts";
import { hasCondition } from "./validate.ts";
import { fieldErrorsText, finishSteps, invalidValue } from "#base";

/** Updates the status in place; reports whether anything changed. */
export function reconcileStatus(
  definition: CustomResourceDefinition,
  others: readonly CustomResourceDefinition[],
  dialect: Dialect,
  now: Date,
): boolean {
  const { status } = definition;
  const { accepted, namesAccepted } = decideNames(definition, others);
  const all = [
    !isDeepStrictEqual(status.acceptedNames, accepted),
    setCondition(status, namesAccepted, now),
    established(definition, namesAccepted, now),
    approved(definition, dialect, now),
    structural(definition, dialect, now),
  ];
  status.acceptedNames = accepted;
  return all.includes(true);
}

/** Once established, a definition stays established and is served. */
function established(definition: CustomResourceDefinition, names: NewCondition, now: Date): boolean {
  if (hasCondition(definition, "Established")) return false;
  const accepted = names.status === "True";
  return setCondition(
    definition.status,
    {
      type: "Established",
      status: accepted ? "True" : "False",
      reason: accepted ? "InitialNamesAccepted" : "NotAccepted",
      message: accepted ? "the initial names have been accepted" : "not all names are accepted",
    },
    now,
  );
}

function approved(
  { spec, metadata, status }: CustomResourceDefinition,
  dialect: Dialect,
  now: Date,
): boolean {
  const type = dialect.names.conditions.approvalPolicyConformant;
  const approval = approvalOf(spec.group, metadata.annotations, dialect);
  if (approval.state === "not needed") return removeCondition(status, type);
  const reasons = {
    approved: "ApprovedAnnotation",
    bypassed: "UnapprovedAnnotation",
    missing: "MissingAnnotation",
    invalid: "InvalidAnnotation",
  } as const;
  return setCondition(
    status,
    {
      type,
      status: approval.state === "approved" ? "True" : "False",
      reason: reasons[approval.state],
      message: approval.reason,
    },
    now,
  );
}

/** Only definitions that predate structural schemas can violate this: those that preserve unknown fields. */
function structural({ spec, status }: CustomResourceDefinition, dialect: Dialect, now: Date): boolean {
  const found = spec.preserveUnknownFields ? violation(spec, dialect) : undefined;
  if (!found) return removeCondition(status, "NonStructuralSchema");
  return setCondition(status, { type: "NonStructuralSchema", ...found }, now);
}

function violation(
  { versions }: CustomResourceDefinition["spec"],
  dialect: Dialect,
): Omit<NewCondition, "type"> {
  const errors = [invalidValue("spec.preserveUnknownFields", true, "must be false")];
  for (const [i, { name, schema }] of (versions ?? []).entries()) {
    const props = schema?.openAPIV3Schema as SchemaProps | undefined;
    if (!props) continue;
    const reason = finishSteps(notStructural(props, dialect.wire.extensionPrefix));
    if (reason !== undefined)
      return {
        status: "Unknown",
        reason: "StructuralError",
        message: `failed to check validation schema for version ${name}: ${reason}`,
      };
    errors.push(
      ...finishSteps(structuralErrors(props, `spec.versions[${i}].schema.openAPIV3Schema`, dialect)),
    );
  }
  return { status: "True", reason: "Violations", message: fieldErrorsText(errors) };
}
