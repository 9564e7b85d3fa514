// Parses and validates the query parameters of each verb.
import {
  type FieldError,
  type ApiError,
  LabelError,
  badRequest,
  flatText,
  forbiddenField,
  invalid,
  notSupported,
  parseFieldSelector,
  parseLabelSelector,
  selector,
  type Requirement,
  type Selector,
  withoutUnprintable,
} from "#base";
import { type Dialect, groupName } from "#dialect";
import { type Query, header } from "#http";
import { type Endpoint, maxManagerLength, managerErrors } from "#registry";
import { labelValueProblems, qualifiedNameProblems } from "#schema";
import type { ApiCall } from "./api-call.ts";
import { isTrue } from "./target.ts";

export interface ListOptions {
  readonly selector: Selector;
  readonly limit: number;
  readonly continue: string;
  readonly resourceVersion: string;
  readonly resourceVersionMatch: string;
  readonly timeoutSeconds: number | undefined;
  readonly bookmarks: boolean;
  readonly sendInitialEvents: boolean | undefined;
}

/** Feature gates that affect lists and watches. */
export interface ListGates {
  readonly watchList: boolean;
  /** If disabled, lists are always returned whole. */
  readonly chunking: boolean;
  readonly remainingItemCount: boolean;
  /** Makes a watch without a resourceVersion start from the state of the store instead of the cache. */
  readonly watchFromStore?: boolean;
}

export function listOptions(call: ApiCall, endpoint: Endpoint, gates: ListGates): ListOptions {
  const { requirements, ...options } = listParameters(call, endpoint.resource.dialect, gates);
  return { ...options, selector: selectorOf(call, endpoint, requirements) };
}

/**
 * Parses the parameters of a list or watch and validates what does not depend on the kind, in
 * kube-apiserver's order.
 */
export function listParameters(
  call: ApiCall,
  dialect: Dialect,
  gates: ListGates,
): Omit<ListOptions, "selector"> & { readonly requirements: SelectorRequirements } {
  const { query } = call;
  // The deprecated watch paths are validated like lists, unless the query contains `watch`.
  const watch = query.has("watch") && isTrue(query.get("watch"));
  const errors: FieldError[] = [];
  const timeoutSeconds = integer(query, "timeoutSeconds");
  const limit = integer(query, "limit") ?? 0;
  const resourceVersion = query.get("resourceVersion") ?? "";
  const match = query.get("resourceVersionMatch") ?? "";
  const token = query.get("continue") ?? "";
  const initial = query.has("sendInitialEvents") ? isTrue(query.get("sendInitialEvents")) : undefined;
  const field = "resourceVersionMatch";
  const requirements = requirementsOf(call);
  if (watch) {
    if (initial !== undefined) {
      if (match !== "NotOlderThan")
        errors.push(
          forbiddenField(field, "sendInitialEvents requires setting resourceVersionMatch to NotOlderThan"),
        );
      if (!gates.watchList)
        errors.push(
          forbiddenField(
            "sendInitialEvents",
            "sendInitialEvents is forbidden for watch unless the WatchList feature gate is enabled",
          ),
        );
    }
    if (match !== "") {
      if (initial === undefined)
        errors.push(
          forbiddenField(
            field,
            "resourceVersionMatch is forbidden for watch unless sendInitialEvents is provided",
          ),
        );
      if (match !== "NotOlderThan") errors.push(notSupported(field, match, ["NotOlderThan"]));
      if (token !== "")
        errors.push(forbiddenField(field, "resourceVersionMatch is forbidden when continue is provided"));
    }
  } else {
    if (match !== "") {
      if (resourceVersion === "")
        errors.push(
          forbiddenField(field, "resourceVersionMatch is forbidden unless resourceVersion is provided"),
        );
      if (token !== "")
        errors.push(forbiddenField(field, "resourceVersionMatch is forbidden when continue is provided"));
      if (match !== "Exact" && match !== "NotOlderThan")
        errors.push(notSupported(field, match, ["Exact", "NotOlderThan", ""]));
      if (match === "Exact" && resourceVersion === "0")
        errors.push(
          forbiddenField(field, 'resourceVersionMatch "exact" is forbidden for resourceVersion "0"'),
        );
    }
    if (initial !== undefined)
      errors.push(forbiddenField("sendInitialEvents", "sendInitialEvents is forbidden for list"));
  }
  if (errors.length > 0) throw invalidOptions(dialect, "ListOptions", errors);
  return {
    requirements,
    limit: gates.chunking && limit > 0 ? limit : 0,
    continue: gates.chunking ? token : "",
    resourceVersion,
    resourceVersionMatch: match,
    timeoutSeconds,
    bookmarks: query.has("allowWatchBookmarks") && isTrue(query.get("allowWatchBookmarks")),
    sendInitialEvents: initial,
  };
}

export interface SelectorRequirements {
  readonly labels: readonly Requirement[];
  readonly fields: readonly Requirement[];
}

const noRequirements: SelectorRequirements = { labels: [], fields: [] };

/** Parses the selectors. A field term without key and value is ignored. */
function requirementsOf({ query }: ApiCall): SelectorRequirements {
  const labels = query.get("labelSelector") ?? "";
  const fields = query.get("fieldSelector") ?? "";
  if (labels === "" && fields === "") return noRequirements;
  try {
    return {
      labels: parseLabelSelector(labels),
      fields: parseFieldSelector(fields).filter(({ key, values }) => key !== "" || values[0] !== ""),
    };
  } catch (error) {
    throw badRequest(error instanceof LabelError ? labelErrorText(error) : (error as Error).message);
  }
}

const labelErrorText = ({ part, given, message }: LabelError): string =>
  `${message}: ${(part === "key" ? qualifiedNameProblems : labelValueProblems)(given).join("; ")}`;

function selectorOf(
  { target }: ApiCall,
  endpoint: Endpoint,
  { labels, fields }: SelectorRequirements,
): Selector {
  return selector(
    labels,
    restrictedToName(
      fields.map((requirement) => knownField(requirement, endpoint)),
      target,
    ),
  );
}

/**
 * A path that names an object selects it by name; an additional field selector must specify the same name.
 */
function restrictedToName(
  fields: readonly Requirement[],
  { named, name }: ApiCall["target"],
): readonly Requirement[] {
  if (!named) return fields;
  if (fields.length === 0) return [{ key: "metadata.name", operator: "in", values: [name] }];
  if (fields.find(({ key, operator }) => key === "metadata.name" && operator === "in")?.values[0] !== name)
    throw badRequest("fieldSelector metadata.name doesn't match requested name");
  return fields;
}

function knownField(requirement: Requirement, endpoint: Endpoint): Requirement {
  const { strategy, selectable } = endpoint.resource;
  const { key } = requirement;
  const aliases = strategy.fieldAliases?.[endpoint.schema.kind.group];
  const hubKey =
    aliases && !key.startsWith("metadata.") ? aliases[key] : selectable.has(key) ? key : undefined;
  if (hubKey === undefined) throw badRequest(unknownField(key, endpoint));
  return { ...requirement, key: hubKey };
}

/** Kinds without selectable fields of their own get an error that lists the supported fields. */
const unknownField = (key: string, { resource: { strategy } }: Endpoint): string =>
  strategy.fields ? `field label not supported: ${key}` : unknownCommonField(key);

export const unknownCommonField = (key: string): string =>
  `${JSON.stringify(key)} is not a known field selector: only "metadata.name", "metadata.namespace"`;

/** Parses an integer parameter; undefined if absent. Throws if it is invalid. */
export function integer(query: Query, name: string): number | undefined {
  const text = query.get(name);
  if (text === undefined) return undefined;
  const isNumber = /^[+-]?\d+$/.test(text);
  if (!isNumber || text.length > 32 || !fits64(BigInt(text.replace("+", ""))))
    throw badRequest(`strconv.ParseInt: parsing ${JSON.stringify(text)}: ${numberProblem(isNumber)}`);
  return Number(text);
}

/** Go's error for a string that is not an integer, or for one that is too large. */
export const numberProblem = (isNumber: boolean): string =>
  isNumber ? "value out of range" : "invalid syntax";

const fits64 = (value: bigint): boolean => BigInt.asIntN(64, value) === value;

export interface WriteOptions {
  readonly dryRun: boolean;
  readonly fieldManager: string;
  readonly fieldValidation: "Ignore" | "Warn" | "Strict";
  readonly force: boolean | undefined;
}

export function writeOptions(
  call: ApiCall,
  dialect: Dialect,
  kind: "CreateOptions" | "UpdateOptions" | "PatchOptions",
  applying = false,
): WriteOptions {
  const { query } = call;
  const errors: FieldError[] = [];
  const force = query.has("force") ? isTrue(query.get("force")) : undefined;
  const manager = query.get("fieldManager") ?? "";
  if (kind === "PatchOptions") {
    if (applying && manager === "")
      errors.push({
        type: "FieldValueRequired",
        field: "fieldManager",
        detail: "is required for apply patch",
      });
    if (!applying && force !== undefined)
      errors.push(forbiddenField("force", "may not be specified for non-apply patch"));
  }
  errors.push(...managerErrors(manager, "fieldManager"));
  const dryRun = query.all("dryRun");
  if (dryRun.some((value) => value !== "All")) errors.push(notSupported("dryRun", dryRun, ["All"]));
  const validation = query.get("fieldValidation") ?? "";
  if (!["", "Ignore", "Warn", "Strict"].includes(validation))
    errors.push(notSupported("fieldValidation", validation, ["", "Ignore", "Strict", "Warn"]));
  if (errors.length > 0) throw invalidOptions(dialect, kind, errors);
  return {
    dryRun: dryRun.length > 0,
    fieldManager: manager || managerFromAgent(header(call.call.headers, "user-agent") ?? ""),
    fieldValidation: validation === "" ? "Warn" : (validation as WriteOptions["fieldValidation"]),
    force,
  };
}

/** Cache by user agent: there are few clients, and each sends the same one with every request. */
const managers = new Map<string, string>();
const maxManagers = 256;
const maxAgentLength = 256;

function managerFromAgent(agent: string): string {
  let manager = managers.get(agent);
  if (manager !== undefined) return manager;
  manager = flatText(firstWordOf(agent));
  if (managers.size >= maxManagers) managers.clear();
  if (agent.length <= maxAgentLength) managers.set(agent, manager);
  return manager;
}

/** The default field manager is the first word of the user agent. */
function firstWordOf(agent: string): string {
  const word = withoutUnprintable(agent.split("/", 1)[0]!);
  return Buffer.byteLength(word) <= maxManagerLength
    ? word
    : Buffer.from(word)
        .subarray(0, maxManagerLength)
        .toString()
        .replace(/\ufffd$/, "");
}

export const invalidOptions = (dialect: Dialect, kind: string, errors: readonly FieldError[]): ApiError =>
  invalid({ group: groupName(dialect, { group: "meta", branded: true }), kind }, "", errors);
