// The strategy of API services, which state the server of a group version. The local ones are maintained by
// this server.
import { APIService } from "#api";
import { type FieldError, invalidValue, notSupported, required } from "#base";
import { type Dialect, groupName } from "#dialect";
import { type Strategy, ageColumn, nameColumn, pathSegment, strategy, timestamp } from "#registry";
import { localAvailability } from "./availability.ts";
import { dns1035LabelProblems, dns1123SubdomainProblems } from "#schema";

const kept = ["labels", "annotations", "finalizers", "ownerReferences"] as const;

/** Returns the metadata of a status update: as sent, except for what belongs to the main resource. */
function keptMeta(sent: APIService, old: APIService): APIService["metadata"] {
  const metadata = { ...sent.metadata };
  for (const key of kept) delete metadata[key];
  for (const key of kept) if (old.metadata[key]) Object.assign(metadata, { [key]: old.metadata[key] });
  return metadata;
}

function errorsOf({ metadata, spec }: APIService): FieldError[] {
  const errors: FieldError[] = [];
  const { group = "", version = "", service } = spec;
  const wanted = `${version}.${group}`;
  const mismatch = `must be \`spec.version+"."+spec.group\`: "${wanted}"`;
  for (const key of ["generateName", "name"] as const) {
    const given = metadata[key] ?? "";
    // Names that are invalid in a URL path have been reported before.
    if (given !== "" && given !== wanted && pathSegment(given, key === "generateName").length === 0)
      errors.push(invalidValue(`metadata.${key}`, given, mismatch));
  }
  // The core group is always local.
  const core = group === "" && version === "v1";
  if (!core) {
    if (group === "")
      errors.push(required("spec.group", "only v1 may have an empty group and it better be legacy kube"));
    else
      for (const text of dns1123SubdomainProblems(group))
        errors.push(invalidValue("spec.group", group, text));
  }
  for (const text of dns1035LabelProblems(version)) errors.push(invalidValue("spec.version", version, text));
  if (spec.groupPriorityMinimum <= 0 || spec.groupPriorityMinimum > 20_000)
    errors.push(
      invalidValue(
        "spec.groupPriorityMinimum",
        spec.groupPriorityMinimum,
        "must be positive and less than 20000",
      ),
    );
  if (spec.versionPriority <= 0 || spec.versionPriority > 1000)
    errors.push(
      invalidValue("spec.versionPriority", spec.versionPriority, "must be positive and less than 1000"),
    );
  return [...errors, ...(service ? serviceErrors(spec) : localErrors(spec))];
}

function localErrors({ caBundle, insecureSkipTLSVerify }: APIService["spec"]): FieldError[] {
  const errors: FieldError[] = [];
  if (caBundle)
    errors.push(
      invalidValue(
        "spec.caBundle",
        `${Buffer.byteLength(caBundle, "base64")} bytes`,
        "local APIServices may not have a caBundle",
      ),
    );
  if (insecureSkipTLSVerify)
    errors.push(
      invalidValue(
        "spec.insecureSkipTLSVerify",
        true,
        "local APIServices may not have insecureSkipTLSVerify",
      ),
    );
  return errors;
}

function serviceErrors({ service, caBundle, insecureSkipTLSVerify }: APIService["spec"]): FieldError[] {
  const errors: FieldError[] = [];
  if (!service!.namespace) errors.push(required("spec.service.namespace"));
  if (!service!.name) errors.push(required("spec.service.name"));
  const port = service!.port ?? 443;
  if (port < 1 || port > 65535)
    errors.push(
      invalidValue("spec.service.port", port, "port is not valid: must be between 1 and 65535, inclusive"),
    );
  if (insecureSkipTLSVerify && caBundle)
    errors.push(invalidValue("spec.insecureSkipTLSVerify", true, "may not be true if caBundle is present"));
  return errors;
}

const conditionStatuses = ["True", "False", "Unknown"];

const statusErrors = ({ status: { conditions = [] } }: APIService): FieldError[] =>
  conditions.flatMap(({ status }, at) =>
    conditionStatuses.includes(status)
      ? []
      : [notSupported(`status.conditions[${at}].status`, status, conditionStatuses)],
  );

const availability = ({ status }: APIService): string => {
  const found = status.conditions?.find(({ type }) => type === "Available");
  if (!found) return "Unknown";
  return found.status === "True" ? "True" : `${found.status} (${found.reason ?? ""})`;
};

export const apiServiceStrategy = (dialect: Dialect): Strategy =>
  strategy<APIService>({
    resource: "apiservices",
    singular: "apiservice",
    categories: ["api-extensions"],
    scope: "Cluster",
    hub: APIService,
    storagePath: `${groupName(dialect, APIService.kind)}/apiservices`,
    status: "cleared",
    conditionalUpdate: true,
    validateName: pathSegment,
    metaChecks: { anyFinalizer: true, asNew: 1 },
    prepareForCreate: (obj, { now }) => {
      const own = { type: "Available", lastTransitionTime: timestamp(now), ...localAvailability };
      obj.status = obj.spec.service ? {} : { conditions: [own] };
    },
    validate: errorsOf,
    columns: [
      nameColumn,
      {
        name: "Service",
        type: "string",
        doc: "Service that serves the version; Local if this server does.",
        cell: ({ spec }: APIService) =>
          spec.service ? `${spec.service.namespace ?? ""}/${spec.service.name ?? ""}` : "Local",
      },
      {
        name: "Available",
        type: "string",
        doc: "Whether the version is available.",
        cell: availability,
      },
      ageColumn,
    ],
    subresources: {
      status: {
        merge: (sent, old) => ({ ...old, metadata: keptMeta(sent, old), status: sent.status }),
        validate: statusErrors,
        resets: ["spec", "metadata"],
        untabled: true,
      },
    },
  });
