// Webhook configurations.
import {
  type MutatingWebhook,
  MutatingWebhookConfiguration,
  type RuleWithOperations,
  type ValidatingWebhook,
  ValidatingWebhookConfiguration,
  type WebhookClientConfig,
} from "#api";
import { type FieldError, duplicate, invalidValue, required, urlParts, urlProblem } from "#base";
import { dns1035LabelProblems, dns1123SubdomainProblems, portNumberProblems } from "#schema";
import { isDeepStrictEqual } from "node:util";
import { type Column, type RequestContext, strategy } from "../strategy.ts";
import { ageColumn, nameColumn } from "./cells/columns.ts";
import { formatErrors } from "./rules/format.ts";
import { goTexts } from "./rules/go-syntax.ts";
import { labelSelectorErrors } from "./rules/label-selector.ts";
import { matchConditionErrors } from "./rules/match-conditions.ts";
import { supported } from "./rules/one-of.ts";
import { repeats } from "./rules/repeats.ts";

type Webhook = ValidatingWebhook | MutatingWebhook;

/** Rules that older objects may violate because they were created before the rules existed. */
interface Strictness {
  readonly noSideEffects: boolean;
  readonly knownReview: boolean;
  readonly uniqueNames: boolean;
}
const strict: Strictness = { noSideEffects: true, knownReview: true, uniqueNames: true };

const reviewVersions = ["v1", "v1beta1"];
const quiet = ["None", "NoneOnDryRun"];

/** An update must follow the rules that the old object follows. */
const strictnessOf = (old: readonly Webhook[]): Strictness => ({
  noSideEffects: old.every(({ sideEffects }) => quiet.includes(sideEffects ?? "")),
  knownReview: old.every(
    ({ admissionReviewVersions: versions }) =>
      !versions?.length || versions.some((version) => reviewVersions.includes(version)),
  ),
  uniqueNames: new Set(old.map(({ name }) => name)).size === old.length,
});

type ConditionErrors = (webhook: Webhook, at: string) => FieldError[];

function errorsOf(
  webhooks: readonly Webhook[] | undefined,
  rules: Strictness,
  conditionErrors: ConditionErrors,
): FieldError[] {
  const names = new Set<string>();
  return (webhooks ?? []).flatMap((webhook, position) => {
    const at = `webhooks[${position}]`;
    const errors = [
      ...webhookErrors(webhook, at, rules),
      ...conditionErrors(webhook, `${at}.matchConditions`),
      ...reviewErrors(webhook.admissionReviewVersions ?? [], `${at}.admissionReviewVersions`, rules),
    ];
    if (rules.uniqueNames && webhook.name && names.has(webhook.name))
      errors.push(duplicate(`${at}.name`, webhook.name));
    names.add(webhook.name);
    return errors;
  });
}

function webhookErrors(webhook: Webhook, at: string, rules: Strictness): FieldError[] {
  const { name, failurePolicy, matchPolicy, sideEffects, timeoutSeconds: seconds } = webhook;
  const errors = nameErrors(name, `${at}.name`);
  webhook.rules?.forEach((rule, position) => errors.push(...ruleErrors(rule, `${at}.rules[${position}]`)));
  if (failurePolicy !== undefined)
    errors.push(...supported(failurePolicy, `${at}.failurePolicy`, ["Fail", "Ignore"]));
  if (matchPolicy !== undefined)
    errors.push(...supported(matchPolicy, `${at}.matchPolicy`, ["Equivalent", "Exact"]));
  const allowed = rules.noSideEffects ? quiet : [...quiet, "Some", "Unknown"];
  errors.push(
    ...(sideEffects === undefined || sideEffects === null
      ? [required(`${at}.sideEffects`, `must specify one of ${allowed.join(", ")}`)]
      : supported(sideEffects, `${at}.sideEffects`, allowed)),
  );
  if (seconds !== undefined && (seconds > 30 || seconds < 1))
    errors.push(
      invalidValue(`${at}.timeoutSeconds`, seconds, "the timeout value must be between 1 and 30 seconds"),
    );
  errors.push(
    ...labelSelectorErrors(webhook.namespaceSelector, `${at}.namespaceSelector`),
    ...labelSelectorErrors(webhook.objectSelector, `${at}.objectSelector`),
  );
  if ("reinvocationPolicy" in webhook && webhook.reinvocationPolicy !== undefined)
    errors.push(...supported(webhook.reinvocationPolicy, `${at}.reinvocationPolicy`, ["IfNeeded", "Never"]));
  return [...errors, ...clientErrors(webhook.clientConfig, `${at}.clientConfig`)];
}

/** Validates a fully qualified name: at least three labels. */
function nameErrors(name: string, field: string): FieldError[] {
  if (!name) return [required(field)];
  const errors = formatErrors(name, field, dns1123SubdomainProblems);
  return errors.length > 0 || name.split(".").length >= 3
    ? errors
    : [invalidValue(field, name, "should be a domain with at least three segments separated by dots")];
}

const mixedWildcard = (
  values: readonly string[] | undefined,
  field: string,
  others: string,
  type = "string",
): FieldError[] =>
  values && values.length > 1 && values.includes("*")
    ? [invalidValue(field, goTexts(type, values), `if '*' is present, must not specify other ${others}`)]
    : [];

export function ruleErrors(
  { operations, apiGroups, apiVersions, resources, scope }: RuleWithOperations,
  at: string,
): FieldError[] {
  const errors = operations?.length
    ? mixedWildcard(operations, `${at}.operations`, "operations", "admissionregistration.OperationType")
    : [required(`${at}.operations`)];
  operations?.forEach((operation, position) =>
    errors.push(
      ...supported(operation, `${at}.operations[${position}]`, [
        "*",
        "CONNECT",
        "CREATE",
        "DELETE",
        "UPDATE",
      ]),
    ),
  );
  errors.push(
    ...(apiGroups?.length
      ? mixedWildcard(apiGroups, `${at}.apiGroups`, "API groups")
      : [required(`${at}.apiGroups`)]),
  );
  errors.push(
    ...(apiVersions?.length
      ? mixedWildcard(apiVersions, `${at}.apiVersions`, "API versions")
      : [required(`${at}.apiVersions`)]),
  );
  apiVersions?.forEach((version, position) => {
    if (version === "") errors.push(required(`${at}.apiVersions[${position}]`));
  });
  errors.push(...resourceErrors(resources ?? [], `${at}.resources`));
  return scope === undefined
    ? errors
    : [...errors, ...supported(scope, `${at}.scope`, ["*", "Cluster", "Namespaced"])];
}

function resourceErrors(resources: readonly string[], path: string): FieldError[] {
  const errors = resources.length > 0 ? [] : [required(path)];
  const [withAllParts, allWithPart] = [new Set<string>(), new Set<string>()];
  let lastIsPlain = false;
  resources.forEach((given, position) => {
    if (given === "") return errors.push(required(`${path}[${position}]`));
    const slash = given.indexOf("/");
    if (slash < 0) return (lastIsPlain = given !== "*");
    const [resource, part] = [given.slice(0, slash), given.slice(slash + 1)];
    const covered = (by: string): FieldError =>
      invalidValue(`${path}[${position}]`, given, `if '${by}' is present, must not specify ${given}`);
    if (withAllParts.has(resource)) errors.push(covered(`${resource}/*`));
    if (allWithPart.has(part)) errors.push(covered(`*/${part}`));
    if (part === "*") withAllParts.add(resource);
    if (resource === "*") allWithPart.add(part);
    return undefined;
  });
  if (resources.length > 1 && resources.includes("*/*"))
    errors.push(invalidValue(path, resources, "if '*/*' is present, must not specify other resources"));
  if (resources.includes("*") && lastIsPlain)
    errors.push(
      invalidValue(
        path,
        resources,
        "if '*' is present, must not specify other resources without subresources",
      ),
    );
  return errors;
}

export function clientErrors({ url, service }: WebhookClientConfig, at: string): FieldError[] {
  if ((url === undefined) === (service === undefined))
    return [required(at, "exactly one of url or service is required")];
  if (url !== undefined) return urlErrors(url, `${at}.url`);
  // The two fields are swapped, as in the reference.
  const errors = service!.namespace ? [] : [required(`${at}.service.name`, "service name is required")];
  if (!service!.name) errors.push(required(`${at}.service.namespace`, "service namespace is required"));
  const port = service!.port ?? 0;
  const problems = portNumberProblems(port);
  if (problems.length > 0)
    errors.push(invalidValue(`${at}.service.port`, port, `port is not valid: ${problems.join(",")}`));
  return [...errors, ...pathErrors(service!.path, `${at}.service.path`)];
}

const desired = "; desired format: https://host[/path]";

function urlErrors(text: string, field: string): FieldError[] {
  const parts = urlParts(text);
  if (typeof parts === "string")
    return [required(field, `url must be a valid URL: ${urlProblem(text)}${desired}`)];
  const { scheme, authority = "" } = parts;
  const at = authority.lastIndexOf("@");
  const [query, fragment] = [parts.query.slice(1), parts.fragment.slice(1)];
  const wrong = (part: string, detail: string): FieldError => invalidValue(field, part, detail);
  const errors =
    scheme === "https" ? [] : [wrong(scheme, `'https' is the only allowed URL scheme${desired}`)];
  if (authority.slice(at + 1) === "") errors.push(wrong("", `host must be specified${desired}`));
  if (at >= 0) errors.push(wrong(authority.slice(0, at), "user information is not permitted in the URL"));
  if (fragment !== "") errors.push(wrong(fragment, "fragments are not permitted in the URL"));
  return query === "" ? errors : [...errors, wrong(query, "query parameters are not permitted in the URL")];
}

function pathErrors(path: string | undefined, field: string): FieldError[] {
  if (path === undefined || path === "" || path === "/") return [];
  if (path === "//") return [invalidValue(field, path, "segment[0] may not be empty")];
  const errors = path.startsWith("/") ? [] : [invalidValue(field, path, "must start with a '/'")];
  const steps = path.slice(1).replace(/\/$/, "").split("/");
  return [
    ...errors,
    ...steps.flatMap((step, position) =>
      (step === "" ? [" may not be empty"] : dns1123SubdomainProblems(step).map((text) => `: ${text}`)).map(
        (detail) => invalidValue(field, path, `segment[${position}]${detail}`),
      ),
    ),
  ];
}

function reviewErrors(versions: readonly string[], path: string, { knownReview }: Strictness): FieldError[] {
  if (versions.length === 0) return [required(path, `must specify one of ${reviewVersions.join(", ")}`)];
  const repeated = repeats<string>();
  const errors = versions.flatMap((version, position) => {
    const field = `${path}[${position}]`;
    return repeated(version)
      ? [invalidValue(field, version, "duplicate version")]
      : formatErrors(version, field, dns1035LabelProblems);
  });
  const unknown = knownReview && !versions.some((version) => reviewVersions.includes(version));
  return unknown
    ? [...errors, invalidValue(path, versions, `must include at least one of ${reviewVersions.join(", ")}`)]
    : errors;
}

interface Configuration {
  readonly webhooks?: Webhook[] | undefined;
}

/** Drops match conditions if their feature gate is off, unless the old object has them. */
function dropConditions(
  { webhooks }: Configuration,
  { settings }: RequestContext,
  old?: Configuration,
): void {
  if (settings.matchConditions || old?.webhooks?.some(({ matchConditions }) => matchConditions?.length))
    return;
  for (const webhook of webhooks ?? []) delete webhook.matchConditions;
}

/** Validates match conditions only if they changed. */
function conditionRules(
  { webhooks }: Configuration,
  ctx: RequestContext,
  old?: Configuration,
): ConditionErrors {
  const conditionsOf = (configuration: Configuration) =>
    (configuration.webhooks ?? []).map(({ matchConditions }) => matchConditions);
  if (old && isDeepStrictEqual(conditionsOf({ webhooks }), conditionsOf(old))) return () => [];
  return ({ matchConditions }, at) =>
    matchConditionErrors(matchConditions, at, ctx, ctx.settings.strictWebhookCosts, { params: false });
}

const columns: readonly Column<ValidatingWebhookConfiguration | MutatingWebhookConfiguration>[] = [
  nameColumn,
  {
    name: "Webhooks",
    type: "integer",
    doc: "Number of webhooks.",
    cell: ({ webhooks }) => webhooks?.length ?? 0,
  },
  ageColumn,
];

const configuration = {
  categories: ["api-extensions"],
  scope: "Cluster",
  generation: true,
  conditionalUpdate: true,
  metaChecks: { asNew: 1, asChange: 0, anyFinalizer: true },
  prepareForCreate: (obj: Configuration, ctx: RequestContext) => dropConditions(obj, ctx),
  prepareForUpdate: (obj: Configuration, old: Configuration, ctx: RequestContext) =>
    dropConditions(obj, ctx, old),
  validate: (obj: Configuration, ctx: RequestContext) =>
    errorsOf(obj.webhooks, strict, conditionRules(obj, ctx)),
  validateUpdate: (obj: Configuration, old: Configuration, ctx: RequestContext) =>
    errorsOf(obj.webhooks, strictnessOf(old.webhooks ?? []), conditionRules(obj, ctx, old)),
  columns,
} as const;

export const validatingWebhookConfiguration = strategy<ValidatingWebhookConfiguration>({
  ...configuration,
  resource: "validatingwebhookconfigurations",
  singular: "validatingwebhookconfiguration",
  hub: ValidatingWebhookConfiguration,
});

export const mutatingWebhookConfiguration = strategy<MutatingWebhookConfiguration>({
  ...configuration,
  resource: "mutatingwebhookconfigurations",
  singular: "mutatingwebhookconfiguration",
  hub: MutatingWebhookConfiguration,
});
