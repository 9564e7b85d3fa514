// Leases. Updates require a resource version.
import { Lease } from "#api";
import { type FieldError, invalidValue } from "#base";
import { strategy } from "../strategy.ts";
import { ageColumn, nameColumn } from "./cells/columns.ts";
import { notNegative } from "./rules/numbers.ts";

function errorsOf({ spec }: Lease): FieldError[] {
  const { leaseDurationSeconds: seconds, leaseTransitions } = spec;
  const errors =
    seconds !== undefined && seconds <= 0
      ? [invalidValue("spec.leaseDurationSeconds", seconds, "must be greater than 0")]
      : [];
  return [...errors, ...notNegative(leaseTransitions, "spec.leaseTransitions")];
}

export const lease = strategy<Lease>({
  resource: "leases",
  singular: "lease",
  scope: "Namespaced",
  hub: Lease,
  metaChecks: { anyFinalizer: true },
  createOnUpdate: true,
  conditionalUpdate: true,
  validate: errorsOf,
  columns: [
    nameColumn,
    {
      name: "Holder",
      type: "string",
      doc: "Identity of the lease holder.",
      cell: ({ spec }: Lease) => spec.holderIdentity ?? "",
    },
    ageColumn,
  ],
});
