// The strategy of custom resource definitions. The definition controller writes their status; a deletion
// waits until all instances are removed.
import { CustomResourceDefinition } from "#api";
import { groupName } from "#dialect";
import { type Strategy, strategy } from "#registry";
import type { RuleLanguage } from "../structural/rules.ts";
import { fromBeta } from "./from-beta.ts";
import { setCondition } from "./conditions.ts";
import { type DefinitionGates, dropDisabledFields } from "./disabled-fields.ts";
import { definitionErrors, definitionNameRule, definitionUpdateErrors, statusErrors } from "./validate.ts";

/** Adds the storage version to the stored versions. */
function addStored({ spec, status }: CustomResourceDefinition): void {
  const storage = (spec.versions ?? []).find((version) => version.storage);
  if (!storage) return;
  const stored = status.storedVersions ?? [];
  if (!stored.includes(storage.name)) status.storedVersions = [...stored, storage.name];
}

export function definitionStrategy(language: RuleLanguage, gates: DefinitionGates): Strategy {
  const { dialect } = language;
  return strategy<CustomResourceDefinition>({
    resource: "customresourcedefinitions",
    singular: "customresourcedefinition",
    shortNames: ["crd", "crds"],
    categories: ["api-extensions"],
    scope: "Cluster",
    hub: CustomResourceDefinition,
    storagePath: `${groupName(dialect, CustomResourceDefinition.kind)}/customresourcedefinitions`,
    // The version in which other servers of this API store definitions.
    formerVersions: { v1beta1: fromBeta },
    generation: true,
    status: "cleared",
    conditionalUpdate: true,
    returnsDeleted: true,
    deletedByUid: true,
    nameRule: definitionNameRule,
    metaChecks: { anyFinalizer: true },
    defaults: (obj) => {
      const { names } = obj.spec;
      if (!names.singular && names.kind) names.singular = names.kind.toLowerCase();
      if (!names.listKind && names.kind) names.listKind = `${names.kind}List`;
      obj.spec.conversion ??= { strategy: "None" };
      const { webhook } = obj.spec.conversion;
      if (webhook && !webhook.clientConfig && !webhook.conversionReviewVersions?.length)
        delete obj.spec.conversion.webhook;
      const service = webhook?.clientConfig?.service;
      if (service) service.port ??= 443;
      if (!obj.status?.storedVersions?.length) addStored(obj);
    },
    prepareForCreate: (obj) => {
      obj.status = { conditions: null, acceptedNames: { plural: "", kind: "" }, storedVersions: [] };
      addStored(obj);
      dropDisabledFields(obj.spec, undefined, gates, dialect);
    },
    prepareForUpdate: (obj, old) => {
      obj.status = structuredClone(old.status);
      addStored(obj);
      dropDisabledFields(obj.spec, old.spec, gates, dialect);
    },
    validateInSteps: (obj, old) =>
      old ? definitionUpdateErrors(obj, old, language) : definitionErrors(obj, language),
    beginDeletion: (obj, { now }) => {
      const finalizer = dialect.names.finalizers.customResourceCleanup;
      const { metadata, status } = obj;
      if (!metadata.finalizers?.includes(finalizer))
        metadata.finalizers = [...(metadata.finalizers ?? []), finalizer];
      setCondition(
        status,
        {
          type: "Terminating",
          status: "True",
          reason: "InstanceDeletionPending",
          message: "CustomResourceDefinition marked for deletion; CustomResource deletion will begin soon",
        },
        now,
      );
    },
    subresources: {
      status: {
        merge: (sent, old) => ({ ...sent, spec: old.spec }),
        validate: (obj) => statusErrors(obj),
        resets: ["metadata", "spec"],
        untabled: true,
      },
    },
  });
}
