// Service accounts: of the secrets they list only the names are kept.
import { ServiceAccount } from "#api";
import { strategy } from "../strategy.ts";
import { ageColumn, nameColumn } from "./cells/columns.ts";

function keepNames(account: ServiceAccount): void {
  if (account.secrets)
    account.secrets = account.secrets.map(({ name }) => (name === undefined ? {} : { name }));
}

export const serviceAccount = strategy<ServiceAccount>({
  resource: "serviceaccounts",
  singular: "serviceaccount",
  shortNames: ["sa"],
  scope: "Namespaced",
  hub: ServiceAccount,
  metaChecks: { asNew: 1 },
  returnsDeleted: true,
  prepareForCreate: keepNames,
  prepareForUpdate: keepNames,
  columns: [
    nameColumn,
    {
      name: "Secrets",
      type: "string",
      doc: "Number of secrets that pods using the account may use.",
      cell: ({ secrets }: ServiceAccount) => secrets?.length ?? 0,
    },
    ageColumn,
  ],
});
