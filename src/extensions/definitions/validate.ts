// Validates definitions. If all versions agree on a property, the reference validates it once and reports it
// under an older path: `spec.validation`, not `spec.versions[0].schema`.
import type {
  CustomResourceColumnDefinition,
  CustomResourceConversion,
  CustomResourceDefinition,
  CustomResourceDefinitionNames,
  CustomResourceDefinitionSpec,
  CustomResourceDefinitionVersion,
  CustomResourceSubresources,
} from "#api";
import {
  type FieldError,
  type Steps,
  forbiddenField,
  invalidValue,
  notSupported,
  required,
  unprintableIn,
} from "#base";
import { type NameRule, dnsSubdomain, webhookClientErrors } from "#registry";
import { dns1035LabelProblems, dns1123SubdomainProblems } from "#schema";
import { isDeepStrictEqual } from "node:util";
import type { RuleLanguage } from "../structural/rules.ts";
import type { SchemaProps } from "../structural/structural.ts";
import { approvalAnnotation, approvalErrors, approvalOf } from "./approval.ts";
import { schemasBelow } from "./schema-rules.ts";
import { selectableErrors } from "./selectable-fields.ts";
import { schemaErrors } from "./validate-schema.ts";

/** Definitions are named after their resource and group. */
export const definitionNameRule =
  ({ spec }: CustomResourceDefinition): NameRule =>
  (name, prefix) => [
    ...dnsSubdomain(name, prefix),
    ...(name === `${spec.names.plural}.${spec.group}` ? [] : ['must be spec.names.plural+"."+spec.group']),
  ];

export const definitionErrors = (
  obj: CustomResourceDefinition,
  language: RuleLanguage,
): Steps<FieldError[]> => commonErrors(obj, undefined, language);

export function* definitionUpdateErrors(
  obj: CustomResourceDefinition,
  old: CustomResourceDefinition,
  language: RuleLanguage,
): Steps<FieldError[]> {
  const errors: FieldError[] = [];
  const fixed = (now: string, before: string, field: string): void => {
    if (now !== before) errors.push(invalidValue(field, now, "field is immutable"));
  };
  if (hasCondition(old, "Established")) {
    fixed(obj.spec.scope, old.spec.scope, "spec.scope");
    fixed(obj.spec.names.kind, old.spec.names.kind, "spec.names.kind");
  }
  fixed(obj.spec.group, old.spec.group, "spec.group");
  fixed(obj.spec.names.plural, old.spec.names.plural, "spec.names.plural");
  return [...(yield* commonErrors(obj, old, language)), ...errors];
}

export const hasCondition = ({ status }: CustomResourceDefinition, type: string): boolean =>
  (status.conditions ?? []).some((condition) => condition.type === type && condition.status === "True");

export const statusErrors = ({ status }: CustomResourceDefinition): FieldError[] =>
  nameErrors(status.acceptedNames, "status.acceptedNames");

function* commonErrors(
  obj: CustomResourceDefinition,
  old: CustomResourceDefinition | undefined,
  language: RuleLanguage,
): Steps<FieldError[]> {
  const { dialect } = language;
  const { spec, metadata } = obj;
  const kept = old?.spec.preserveUnknownFields === true;
  const given = metadata.annotations?.[approvalAnnotation(dialect)] ?? "";
  return [
    // An unchanged spec was validated when it was written: updates of status and finalizers skip that cost.
    ...(old && isDeepStrictEqual(spec, old.spec) ? [] : yield* specErrors(spec, old, language)),
    ...statusErrors(obj),
    ...storedErrors(obj),
    ...approvalErrors(
      approvalOf(spec.group, metadata.annotations, dialect),
      old && approvalOf(spec.group, old.metadata.annotations, dialect),
      given,
      dialect,
    ),
    ...(spec.preserveUnknownFields && !kept
      ? [
          invalidValue(
            "spec.preserveUnknownFields",
            true,
            `cannot set to true, set ${dialect.wire.extensionPrefix}preserve-unknown-fields to true in spec.versions[*].schema instead`,
          ),
        ]
      : []),
  ];
}

function storedErrors({ spec, status }: CustomResourceDefinition): FieldError[] {
  const stored = status.storedVersions ?? [];
  const field = "status.storedVersions";
  if (stored.length === 0) return [invalidValue(field, [], "must have at least one stored version")];
  const names = new Set((spec.versions ?? []).map(({ name }) => name));
  // Each name counts once: if two versions share a name, the second is not stored.
  const left = new Set(stored);
  const missing = (spec.versions ?? []).filter(({ name, storage }) => !left.delete(name) && storage);
  return [
    ...missing.map((version) =>
      invalidValue(field, version, `must have the storage version ${version.name}`),
    ),
    ...stored.flatMap((name, i) =>
      names.has(name) ? [] : [invalidValue(`${field}[${i}]`, name, "must appear in spec.versions")],
    ),
  ];
}

/** Reports whether all versions agree on a property, which is then validated once. */
function shared<T>(
  versions: readonly CustomResourceDefinitionVersion[],
  of: (version: CustomResourceDefinitionVersion) => T,
): boolean {
  const [first] = versions;
  return first === undefined || versions.every((version) => isDeepStrictEqual(of(version), of(first)));
}

function* specErrors(
  spec: CustomResourceDefinitionSpec,
  old: CustomResourceDefinition | undefined,
  language: RuleLanguage,
): Steps<FieldError[]> {
  const versions = spec.versions ?? [];
  const errors = groupErrors(spec.group);
  if (!spec.scope) errors.push(required("spec.scope"));
  else if (spec.scope !== "Cluster" && spec.scope !== "Namespaced")
    errors.push(notSupported("spec.scope", spec.scope, ["Cluster", "Namespaced"]));
  versions.forEach(({ schema }, i) => {
    if (!schema?.openAPIV3Schema)
      errors.push(required(`spec.versions[${i}].schema.openAPIV3Schema`, "schemas are required"));
  });
  if (spec.preserveUnknownFields && versions.some((version) => hasDefaults(schemaOf(version))))
    errors.push(
      invalidValue(
        "spec.preserveUnknownFields",
        true,
        "must be false in order to use defaults in the schema",
      ),
    );
  errors.push(...(yield* versionErrors(versions, language)));
  // The first version is also validated under its older field name.
  const [first] = versions;
  const problems = first?.name ? dns1035LabelProblems(first.name) : [];
  if (problems.length > 0) errors.push(invalidValue("spec.version", first!.name, problems.join(",")));
  for (const key of ["plural", "singular", "kind", "listKind"] as const)
    if (!spec.names[key]) errors.push(required(`spec.names.${key}`));
  errors.push(...nameErrors(spec.names, "spec.names"), ...(yield* sharedErrors(versions, language)));
  const { conversion } = spec;
  if (conversion && conversion.strategy !== "None" && spec.preserveUnknownFields)
    errors.push(
      invalidValue(
        "spec.conversion.strategy",
        conversion.strategy,
        "must be None if spec.preserveUnknownFields is true",
      ),
    );
  return [...errors, ...conversionErrors(conversion, old?.spec.conversion)];
}

function groupErrors(group: string): FieldError[] {
  if (!group) return [required("spec.group")];
  const problems = dns1123SubdomainProblems(group);
  if (problems.length > 0) return [invalidValue("spec.group", group, problems.join(","))];
  return group.includes(".")
    ? []
    : [invalidValue("spec.group", group, "should be a domain with at least one dot")];
}

const hasStatus = ({ subresources }: CustomResourceDefinitionVersion): boolean =>
  subresources?.status !== undefined;

function* versionErrors(
  versions: readonly CustomResourceDefinitionVersion[],
  language: RuleLanguage,
): Steps<FieldError[]> {
  const errors: FieldError[] = [];
  const [oneSchema, onePart, oneTable, oneSelection] = [
    shared(versions, ({ schema }) => schema),
    shared(versions, ({ subresources }) => subresources),
    shared(versions, ({ additionalPrinterColumns }) => additionalPrinterColumns),
    shared(versions, ({ selectableFields }) => selectableFields),
  ];
  for (const [i, version] of versions.entries()) {
    const at = `spec.versions[${i}]`;
    const problems = dns1035LabelProblems(version.name);
    if (problems.length > 0) errors.push(invalidValue(`${at}.name`, version.name, problems.join(",")));
    for (const text of warningProblems(version))
      errors.push(invalidValue(`${at}.deprecationWarning`, version.deprecationWarning, text));
    if (!oneSchema)
      errors.push(...(yield* schemaErrors(schemaOf(version), hasStatus(version), `${at}.schema`, language)));
    if (!onePart) errors.push(...subresourceErrors(version.subresources, `${at}.subresources`));
    if (!oneTable)
      version.additionalPrinterColumns?.forEach((column, j) =>
        errors.push(...columnErrors(column, `${at}.additionalPrinterColumns[${j}]`)),
      );
    if (!oneSelection) errors.push(...selectionErrors(version, at, !oneSchema));
  }
  if (new Set(versions.map(({ name }) => name)).size < versions.length)
    errors.push(invalidValue("spec.versions", versions, "must contain unique version names"));
  if (versions.filter(({ storage }) => storage).length !== 1)
    errors.push(
      invalidValue("spec.versions", versions, "must have exactly one version marked as storage version"),
    );
  return errors;
}

function hasDefaults(schema: SchemaProps | undefined): boolean {
  if (!schema) return false;
  if ((schema["default"] ?? undefined) !== undefined) return true;
  for (const [inner] of schemasBelow(schema, "")) if (hasDefaults(inner)) return true;
  return false;
}

const schemaOf = ({ schema }: CustomResourceDefinitionVersion): SchemaProps | undefined =>
  schema?.openAPIV3Schema;

function* sharedErrors(
  versions: readonly CustomResourceDefinitionVersion[],
  language: RuleLanguage,
): Steps<FieldError[]> {
  const [first] = versions;
  if (!first) return [];
  const errors: FieldError[] = [];
  if (shared(versions, ({ schema }) => schema))
    errors.push(
      ...(yield* schemaErrors(schemaOf(first), versions.some(hasStatus), "spec.validation", language)),
    );
  if (shared(versions, ({ subresources }) => subresources))
    errors.push(...subresourceErrors(first.subresources, "spec.subresources"));
  if (shared(versions, ({ additionalPrinterColumns }) => additionalPrinterColumns))
    first.additionalPrinterColumns?.forEach((column, i) =>
      errors.push(...columnErrors(column, `spec.additionalPrinterColumns[${i}]`)),
    );
  if (shared(versions, ({ selectableFields }) => selectableFields))
    errors.push(
      ...selectionErrors(
        first,
        "spec",
        shared(versions, ({ schema }) => schema),
      ),
    );
  return errors;
}

/**
 * Returns the errors of selectable fields at a path. As in the reference, their schema must be at the same
 * path: if all versions agree on one of the two only, the fields are rejected.
 */
function selectionErrors(
  version: CustomResourceDefinitionVersion,
  path: string,
  hasSchema: boolean,
): FieldError[] {
  const fields = version.selectableFields ?? [];
  const at = `${path}.selectableFields`;
  const schema = schemaOf(version);
  if (fields.length === 0) return [];
  if (hasSchema && schema) return selectableErrors(fields, schema, at);
  const condition =
    path === "spec" ? "validations.schema is included" : "version.schema.openAPIV3Schema is not included";
  return [invalidValue(at, "", `selectableFields may only be set when ${condition}`)];
}

function warningProblems({
  deprecated,
  deprecationWarning: text,
}: CustomResourceDefinitionVersion): string[] {
  if (text === undefined || text === null) return [];
  if (!deprecated) return ["can only be set for deprecated versions"];
  const problems: string[] = [];
  if (Buffer.byteLength(text) > 256) problems.push("must be <= 256 characters long");
  if (text === "") problems.push("must not be an empty string");
  const [unprintable] = unprintableIn(text);
  if (unprintable) {
    const at = Buffer.byteLength(text.slice(0, unprintable.index));
    problems.push(
      `must only contain printable UTF-8 characters; non-printable character found at index ${at}`,
    );
  }
  return problems;
}

export function nameErrors(names: CustomResourceDefinitionNames, at: string): FieldError[] {
  const errors: FieldError[] = [];
  const check = (field: string, text: string | undefined, mixed: boolean): void => {
    if (!text) return;
    const problems = dns1035LabelProblems(mixed ? text.toLowerCase() : text);
    const detail = `${mixed ? "may have mixed case, but should otherwise match: " : ""}${problems.join(",")}`;
    if (problems.length > 0) errors.push(invalidValue(`${at}.${field}`, text, detail));
  };
  check("plural", names.plural, false);
  check("singular", names.singular, false);
  check("kind", names.kind, true);
  check("listKind", names.listKind, true);
  for (const key of ["shortNames", "categories"] as const)
    names[key]?.forEach((name, i) => {
      const problems = dns1035LabelProblems(name);
      if (problems.length > 0) errors.push(invalidValue(`${at}.${key}[${i}]`, name, problems.join(",")));
    });
  if (names.kind && names.kind === names.listKind)
    errors.push(invalidValue(`${at}.listKind`, names.listKind, "kind and listKind may not be the same"));
  return errors;
}

function pathErrors(path: string, field: string, below: readonly string[]): FieldError[] {
  if (!path.startsWith(".")) return [invalidValue(field, path, "must be a simple json path starting with .")];
  return below.length === 0 || below.some((prefix) => path.startsWith(prefix))
    ? []
    : [invalidValue(field, path, `should be a json path under ${under(below)}`)];
}

const under = (prefixes: readonly string[]): string =>
  `${prefixes.length > 1 ? "either " : ""}${prefixes.map((prefix) => prefix.slice(0, -1)).join(" or ")}`;

function subresourceErrors(parts: CustomResourceSubresources | undefined, at: string): FieldError[] {
  const scale = parts?.scale;
  if (!scale) return [];
  const errors: FieldError[] = [];
  for (const [key, below] of [
    ["specReplicasPath", ".spec."],
    ["statusReplicasPath", ".status."],
  ] as const)
    errors.push(
      ...(scale[key]
        ? pathErrors(scale[key], `${at}.scale.${key}`, [below])
        : [required(`${at}.scale.${key}`)]),
    );
  if (scale.labelSelectorPath)
    errors.push(
      ...pathErrors(scale.labelSelectorPath, `${at}.scale.labelSelectorPath`, [".spec.", ".status."]),
    );
  return errors;
}

const columnTypes = ["boolean", "date", "integer", "number", "string"];
const columnFormats = ["byte", "date", "date-time", "double", "float", "int32", "int64", "password"];

function columnErrors(column: CustomResourceColumnDefinition, at: string): FieldError[] {
  const errors: FieldError[] = column.name ? [] : [required(`${at}.name`)];
  const oneOf = (values: readonly string[]): string => `must be one of ${values.join(",")}`;
  if (!column.type) errors.push(required(`${at}.type`, oneOf(columnTypes)));
  else if (!columnTypes.includes(column.type))
    errors.push(invalidValue(`${at}.type`, column.type, oneOf(columnTypes)));
  if (column.format && !columnFormats.includes(column.format))
    errors.push(invalidValue(`${at}.format`, column.format, oneOf(columnFormats)));
  errors.push(
    ...(column.jsonPath ? pathErrors(column.jsonPath, `${at}.JSONPath`, []) : [required(`${at}.JSONPath`)]),
  );
  return errors;
}

const reviewVersions = ["v1", "v1beta1"];

function conversionErrors(
  conversion: CustomResourceConversion | undefined,
  old: CustomResourceConversion | undefined,
): FieldError[] {
  if (!conversion) return [];
  const at = "spec.conversion";
  const { strategy, webhook } = conversion;
  const errors: FieldError[] = [];
  if (!strategy) errors.push(required(`${at}.strategy`));
  else if (strategy !== "None" && strategy !== "Webhook")
    errors.push(notSupported(`${at}.strategy`, strategy, ["None", "Webhook"]));
  const versions = webhook?.conversionReviewVersions ?? [];
  if (strategy !== "Webhook") {
    const detail = "should not be set when strategy is not set to Webhook";
    if (webhook?.clientConfig) errors.push(forbiddenField(`${at}.webhookClientConfig`, detail));
    if (versions.length > 0) errors.push(forbiddenField(`${at}.conversionReviewVersions`, detail));
    return errors;
  }
  errors.push(
    ...(webhook?.clientConfig
      ? webhookClientErrors(webhook.clientConfig, `${at}.webhookClientConfig`)
      : [required(`${at}.webhookClientConfig`, "required when strategy is set to Webhook")]),
  );
  const before = old?.webhook?.conversionReviewVersions ?? [];
  const wantsKnown = before.length === 0 || before.some((version) => reviewVersions.includes(version));
  return [...errors, ...reviewVersionErrors(versions, `${at}.conversionReviewVersions`, wantsKnown)];
}

function reviewVersionErrors(versions: readonly string[], at: string, wantsKnown: boolean): FieldError[] {
  if (versions.length === 0) return [required(at)];
  const seen = new Set<string>();
  const errors = versions.flatMap((version, i) => {
    if (seen.has(version)) return [invalidValue(`${at}[${i}]`, version, "duplicate version")];
    seen.add(version);
    return dns1035LabelProblems(version).map((text) => invalidValue(`${at}[${i}]`, version, text));
  });
  if (wantsKnown && !versions.some((version) => reviewVersions.includes(version)))
    errors.push(invalidValue(at, versions, `must include at least one of ${reviewVersions.join(", ")}`));
  return errors;
}
