// Flow schemas: assign requests to flows and priority levels.
import { FlowSchema, flowcontrolV1beta2, laterFlow } from "#api";
import { type FieldError, duplicate, forbiddenField, invalidValue, notSupported, required } from "#base";
import { dns1123LabelProblems, dns1123SubdomainProblems } from "#schema";
import { type Strategy, strategy } from "../strategy.ts";
import { ageColumn, nameColumn } from "./cells/columns.ts";
import { bareStatusPart } from "./parts.ts";
import { formatErrors } from "./rules/format.ts";
import { supported } from "./rules/one-of.ts";
import { repeats } from "./rules/repeats.ts";
import { same } from "./rules/unchanged.ts";

type Rule = NonNullable<FlowSchema["spec"]["rules"]>[number];
type Subject = NonNullable<Rule["subjects"]>[number];
type ResourceRule = NonNullable<Rule["resourceRules"]>[number];
type PathRule = NonNullable<Rule["nonResourceRules"]>[number];

const anything: Pick<Rule, "resourceRules" | "nonResourceRules"> = {
  resourceRules: [
    { verbs: ["*"], apiGroups: ["*"], resources: ["*"], clusterScope: true, namespaces: ["*"] },
  ],
  nonResourceRules: [{ verbs: ["*"], nonResourceURLs: ["*"] }],
};
const group = (name: string): Subject => ({ kind: "Group", group: { name } });

/** Schemas that exist on every server with exactly this spec. */
export const mandatoryFlowSchemas: Readonly<Record<string, FlowSchema["spec"]>> = {
  exempt: {
    priorityLevelConfiguration: { name: "exempt" },
    matchingPrecedence: 1,
    rules: [{ subjects: [group("system:masters")], ...anything }],
  },
  "catch-all": {
    priorityLevelConfiguration: { name: "catch-all" },
    matchingPrecedence: 10_000,
    distinguisherMethod: { type: "ByUser" },
    rules: [{ subjects: [group("system:unauthenticated"), group("system:authenticated")], ...anything }],
  },
};

const lowest = 10_000;

function errorsOf({ metadata, spec, status }: FlowSchema): FieldError[] {
  const name = metadata.name ?? "";
  const {
    matchingPrecedence: precedence,
    distinguisherMethod: method,
    priorityLevelConfiguration: level,
  } = spec;
  const field = "spec.matchingPrecedence";
  const errors: FieldError[] =
    precedence <= 0 ? [invalidValue(field, precedence, "must be a positive value")] : [];
  if (precedence > lowest) errors.push(invalidValue(field, precedence, `must not be greater than ${lowest}`));
  if (precedence === 1 && name !== "exempt")
    errors.push(
      invalidValue(field, precedence, "only the schema named 'exempt' may have matchingPrecedence 1"),
    );
  if (method)
    errors.push(...supported(method.type, "spec.distinguisherMethod.type", ["ByNamespace", "ByUser"]));
  const reference = "spec.priorityLevelConfiguration.name";
  errors.push(
    ...(level.name
      ? formatErrors(level.name, reference, dns1123SubdomainProblems)
      : [required(reference, "must reference a priority level")]),
  );
  spec.rules?.forEach((rule, position) => errors.push(...ruleErrors(rule, `spec.rules[${position}]`)));
  const fixed = Object.hasOwn(mandatoryFlowSchemas, name) ? mandatoryFlowSchemas[name] : undefined;
  if (fixed && !same(spec, fixed))
    errors.push(invalidValue("spec", spec, `spec of '${name}' must equal the fixed value`));
  return [...errors, ...flowConditionErrors(status.conditions)];
}

export function flowConditionErrors(
  conditions: readonly { readonly type?: string | undefined }[] | undefined,
): FieldError[] {
  const types = (conditions ?? []).map(({ type }) => type ?? "");
  const repeated = repeats<string>();
  return types.flatMap((type, position) => {
    const field = `status.conditions[${position}].type`;
    return [
      ...(repeated(type) ? [duplicate(field, type)] : []),
      ...(type ? [] : [required(field, "must not be empty")]),
    ];
  });
}

function ruleErrors({ subjects, resourceRules, nonResourceRules }: Rule, at: string): FieldError[] {
  const errors = subjects?.length
    ? subjects.flatMap((subject, position) => subjectErrors(subject, `${at}.subjects[${position}]`))
    : [required(`${at}.subjects`, "subjects must contain at least one value")];
  if (!resourceRules?.length && !nonResourceRules?.length)
    errors.push(required(at, "at least one of resourceRules and nonResourceRules has to be non-empty"));
  resourceRules?.forEach((rule, position) =>
    errors.push(...resourceRuleErrors(rule, `${at}.resourceRules[${position}]`)),
  );
  nonResourceRules?.forEach((rule, position) =>
    errors.push(...pathRuleErrors(rule, `${at}.nonResourceRules[${position}]`)),
  );
  return errors;
}

const subjectFields = { ServiceAccount: "serviceAccount", User: "user", Group: "group" } as const;
const kindWith = (field: string): string =>
  Object.entries(subjectFields).find(([, name]) => name === field)![0];

function subjectErrors(subject: Subject, at: string): FieldError[] {
  const { kind } = subject;
  if (!Object.hasOwn(subjectFields, kind))
    return [notSupported(`${at}.kind`, kind, Object.keys(subjectFields).toSorted())];
  const own = subjectFields[kind as keyof typeof subjectFields];
  const given = subject[own];
  const field = `${at}.${own}`;
  const errors = Object.values(subjectFields)
    .filter((key) => key !== own && subject[key])
    .map((key) =>
      forbiddenField(`${at}.${key}`, `${key} is forbidden when subject kind is not '${kindWith(key)}'`),
    );
  if (!given) return [required(field, `${own} is required when subject kind is '${kind}'`), ...errors];
  if (own !== "serviceAccount") return [...(given.name ? [] : [required(`${field}.name`)]), ...errors];
  return [...accountErrors(subject.serviceAccount!, field), ...errors];
}

function accountErrors(
  { name, namespace }: NonNullable<Subject["serviceAccount"]>,
  field: string,
): FieldError[] {
  const errors = name ? [] : [required(`${field}.name`)];
  if (name && name !== "*") errors.push(...formatErrors(name, `${field}.name`, dns1123SubdomainProblems));
  return [
    ...errors,
    ...(namespace
      ? formatErrors(namespace, `${field}.namespace`, dns1123LabelProblems)
      : [required(`${field}.namespace`, "must specify namespace for service account")]),
  ];
}

const verbs = ["create", "delete", "deletecollection", "get", "list", "patch", "proxy", "update", "watch"];
const alone = (values: readonly string[], field: string, others: string): FieldError[] =>
  values.length > 1 && values.includes("*")
    ? [invalidValue(field, values, `if '*' is present, must not specify other ${others}`)]
    : [];

function verbErrors(given: readonly string[] | null, field: string): FieldError[] {
  if (!given?.length) return [required(field, "verbs must contain at least one value")];
  if (given.includes("*")) return alone(given, field, "verbs");
  return given.every((verb) => verbs.includes(verb)) ? [] : [notSupported(field, given, verbs)];
}

const namespaceProblems = (name: string): string[] =>
  dns1123LabelProblems(name).map(
    (problem) => `each member of this list must be '*' or a DNS-1123 label; ${problem}`,
  );

function resourceRuleErrors(
  { verbs: given, apiGroups, resources, namespaces, clusterScope }: ResourceRule,
  at: string,
): FieldError[] {
  const errors = verbErrors(given, `${at}.verbs`);
  errors.push(
    ...(apiGroups?.length
      ? alone(apiGroups, `${at}.apiGroups`, "api groups")
      : [required(`${at}.apiGroups`, "resource rules must supply at least one api group")]),
  );
  errors.push(
    ...(resources?.length
      ? alone(resources, `${at}.resources`, "resources")
      : [required(`${at}.resources`, "resource rules must supply at least one resource")]),
  );
  if (!namespaces?.length)
    return clusterScope
      ? errors
      : [
          ...errors,
          required(
            `${at}.namespaces`,
            "resource rules that are not cluster scoped must supply at least one namespace",
          ),
        ];
  if (namespaces.includes("*")) return [...errors, ...alone(namespaces, `${at}.namespaces`, "namespaces")];
  return [
    ...errors,
    ...namespaces.flatMap((name, position) =>
      formatErrors(name, `${at}.namespaces[${position}]`, namespaceProblems),
    ),
  ];
}

function pathRuleErrors({ verbs: given, nonResourceURLs: paths }: PathRule, at: string): FieldError[] {
  const errors = verbErrors(given, `${at}.verbs`);
  const field = `${at}.nonResourceURLs`;
  if (!paths?.length) return [...errors, required(field, "nonResourceURLs must contain at least one value")];
  if (paths.includes("*")) return [...errors, ...alone(paths, field, "non-resource URLs")];
  return [
    ...errors,
    ...paths.flatMap((path, position) => {
      const problem = pathProblem(path);
      return problem ? [invalidValue(`${field}[${position}]`, path, problem)] : [];
    }),
  ];
}

function pathProblem(path: string): string | undefined {
  if (path === "") return "must not be empty";
  if (!path.startsWith("/")) return "must start with slash";
  if (path.includes(" ")) return "must not contain white-space";
  if (path.includes("//")) return "must not contain double slash";
  const stars = path.split("*").length - 1;
  return stars > 1 || (stars === 1 && !path.endsWith("/*"))
    ? "wildcard can only do suffix matching"
    : undefined;
}

const deprecated = { since: "v1.26", until: "v1.29", instead: "v1beta3" };

export const flowSchema = strategy<FlowSchema>({
  resource: "flowschemas",
  singular: "flowschema",
  scope: "Cluster",
  hub: FlowSchema,
  served: [{ schema: FlowSchema }, { schema: flowcontrolV1beta2.FlowSchema, deprecated }],
  generation: true,
  status: "cleared",
  metaChecks: { asNew: 1, asChange: 0 },
  prepareForCreate: (obj) => {
    obj.status = {};
  },
  validate: errorsOf,
  subresources: { status: bareStatusPart(({ status }) => flowConditionErrors(status.conditions)) },
  rowOrder: (one, other) => one.spec.matchingPrecedence - other.spec.matchingPrecedence,
  columns: [
    nameColumn,
    {
      name: "PriorityLevel",
      type: "string",
      doc: "Priority level of matching requests.",
      cell: ({ spec }: FlowSchema) => spec.priorityLevelConfiguration.name,
    },
    {
      name: "MatchingPrecedence",
      type: "string",
      doc: "Matching precedence; lower values are matched first.",
      cell: ({ spec }: FlowSchema) => spec.matchingPrecedence,
    },
    {
      name: "DistinguisherMethod",
      type: "string",
      doc: "Method that distinguishes flows.",
      cell: ({ spec }: FlowSchema) => spec.distinguisherMethod?.type ?? "<none>",
    },
    ageColumn,
    {
      name: "MissingPL",
      type: "string",
      doc: "Whether the priority level does not exist.",
      cell: ({ status }: FlowSchema) => {
        const dangling = status.conditions?.find(({ type }) => type === "Dangling");
        return dangling ? (dangling.status ?? "") : "?";
      },
    },
  ],
});

/** Flow schemas of releases that serve v1. */
export const laterFlowSchema: Strategy = {
  ...flowSchema,
  hub: laterFlow.v1.FlowSchema,
  served: [
    { schema: laterFlow.v1.FlowSchema },
    {
      schema: FlowSchema,
      deprecated: { since: "v1.29", until: "v1.32", instead: "v1" },
    },
    { schema: flowcontrolV1beta2.FlowSchema, deprecated },
  ],
};
