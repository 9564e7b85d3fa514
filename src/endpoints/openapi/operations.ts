// The operations of every served path in a common form, from which both OpenAPI versions are generated.
import { Scale, Status, listOf } from "#api";
import type { Dialect } from "#dialect";
import { type Message, publishedKind } from "#schema";
import type { Endpoint } from "#registry";
import { type GroupVersion, verbsOf } from "../catalog.ts";

export interface Parameter {
  readonly name: string;
  readonly in: "query" | "path" | "body";
  readonly type: "string" | "integer" | "boolean" | "object";
  readonly required?: boolean;
  readonly doc: string;
}

export interface Operation {
  readonly method: "get" | "post" | "put" | "patch" | "delete" | "options" | "head";
  readonly id: string;
  readonly tag: string;
  readonly doc?: string;
  readonly action?: string;
  readonly kind?: { readonly group: string; readonly version: string; readonly kind: string };
  readonly consumes?: readonly string[];
  readonly produces?: readonly string[];
  readonly parameters: readonly Parameter[];
  readonly body?: Message | "patch" | "deleteOptions";
  /** The response body by status. */
  readonly answers: Readonly<Record<string, Message | "string">>;
}

export interface PathItem {
  readonly path: string;
  readonly parameters: readonly Parameter[];
  readonly operations: readonly Operation[];
}

export const query = (name: string, type: Parameter["type"], doc: string): Parameter => ({
  name,
  in: "query",
  type,
  doc,
});
export const pretty = query("pretty", "string", "If 'true', the answer is printed for people.");
const dryRun = query("dryRun", "string", "When All, nothing is stored: the answer is what would have been.");
const fieldManager = query("fieldManager", "string", "Who makes the change; owns the fields it sets.");
const fieldValidation = query(
  "fieldValidation",
  "string",
  "What becomes of unknown and repeated fields: Ignore, Warn or Strict.",
);
export const writing: readonly Parameter[] = [dryRun, fieldManager, fieldValidation];
const force = query("force", "boolean", "Apply takes over fields that others own.");
export const listing: readonly Parameter[] = [
  query("allowWatchBookmarks", "boolean", "Whether a watch may get marks that carry only a version."),
  query("continue", "string", "Where the page before this one ended."),
  query("fieldSelector", "string", "Only objects whose fields match."),
  query("labelSelector", "string", "Restricts the list of returned objects to those whose labels match."),
  query("limit", "integer", "How many objects a page holds at the most."),
  query("resourceVersion", "string", "How new the answer must be."),
  query("resourceVersionMatch", "string", "How resourceVersion is to be taken: Exact or NotOlderThan."),
  query("sendInitialEvents", "boolean", "Whether a watch begins with what is there."),
  query("timeoutSeconds", "integer", "When the call ends, whatever happens."),
  query("watch", "boolean", "Watch for changes to the described resources instead of listing them."),
];
const deleting: readonly Parameter[] = [
  dryRun,
  query(
    "gracePeriodSeconds",
    "integer",
    "Seconds the object has to end in good order; 0 removes it at once.",
  ),
  query("orphanDependents", "boolean", "No longer used: see propagationPolicy."),
  query("propagationPolicy", "string", "What becomes of dependents: Orphan, Background or Foreground."),
];
export const nameOf = (kind: string): Parameter => ({
  name: "name",
  in: "path",
  type: "string",
  required: true,
  doc: `Name of the ${kind}.`,
});
export const namespace: Parameter = {
  name: "namespace",
  in: "path",
  type: "string",
  required: true,
  doc: "The namespace.",
};

export const media = (dialect: Dialect): string[] => [
  "application/json",
  "application/yaml",
  dialect.wire.protobufMediaType,
];
export const streams = (dialect: Dialect): string[] => [
  "application/json;stream=watch",
  `${dialect.wire.protobufMediaType};stream=watch`,
];
const patches = [
  "application/json-patch+json",
  "application/merge-patch+json",
  "application/strategic-merge-patch+json",
  "application/apply-patch+yaml",
];

export const capital = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1);

/** The group and version in operation ids: `EventsV1`, `CoreV1`, `RbacAuthorizationV1`. */
export function idPart({ group, version }: GroupVersion, dialect: Dialect): string {
  const bare = group === "" ? "core" : group.replace(`.${dialect.wire.groupSuffix}`, "");
  return bare.split(".").map(capital).join("") + capital(version);
}

export const tagOf = (version: GroupVersion, dialect: Dialect): string => {
  const part = idPart(version, dialect);
  const group = part.slice(0, -version.version.length);
  return `${group.charAt(0).toLowerCase()}${group.slice(1)}_${version.version}`;
};

/** The root path of a version. */
export const rootOf = ({ group, version, groupVersion }: GroupVersion): string =>
  group === "" ? `/api/${version}` : `/apis/${groupVersion}`;

/** Moves parameters common to all operations of a path to the path. */
export function shared(item: PathItem): PathItem {
  const [first, ...rest] = item.operations;
  const everywhere = (first?.parameters ?? []).filter((parameter) =>
    rest.every(({ parameters }) => parameters.includes(parameter)),
  );
  const operations = item.operations.map((operation) => ({
    ...operation,
    parameters: operation.parameters.filter((parameter) => !everywhere.includes(parameter)),
  }));
  const parameters = [...item.parameters, ...everywhere].sort((a, b) =>
    a.name < b.name ? -1 : a.name > b.name ? 1 : a.in < b.in ? -1 : 1,
  );
  return { path: item.path, parameters, operations };
}

export function resourcePaths(version: GroupVersion, endpoint: Endpoint, dialect: Dialect): PathItem[] {
  const { strategy, namespaced } = endpoint.resource;
  const root = rootOf(version);
  const place = namespaced ? "/namespaces/{namespace}" : "";
  const base = `${root}${place}/${strategy.resource}`;
  const verbs = new Set<string>(verbsOf(endpoint));
  const kind = { group: endpoint.group, version: endpoint.version, kind: endpoint.kind };
  const group = idPart(version, dialect);
  const tag = tagOf(version, dialect);
  const scope = namespaced ? "Namespaced" : "";
  const ctx = { tag, kind };
  const outer = namespaced ? [namespace] : [];
  const any = ["*/*"];
  const object = endpoint.schema;
  const listOperation = (id: string): Operation => ({
    ...ctx,
    method: "get",
    id,
    doc: `List or watch objects of kind ${endpoint.kind}.`,
    action: "list",
    consumes: any,
    produces: [...media(dialect), ...streams(dialect)],
    parameters: listing,
    answers: { "200": listOf(object) },
  });
  const collection: Operation[] = [];
  if (verbs.has("list")) collection.push(listOperation(`list${group}${scope}${endpoint.kind}`));
  if (verbs.has("create")) {
    collection.push({
      ...ctx,
      method: "post",
      id: `create${group}${scope}${endpoint.kind}`,
      doc: `Create a ${endpoint.kind}.`,
      action: "post",
      consumes: any,
      produces: media(dialect),
      parameters: writing,
      body: object,
      answers: { "200": object, "201": object, "202": object },
    });
  }
  if (verbs.has("deletecollection")) {
    const parameters = [
      ...listing.filter(({ name }) => name !== "watch" && name !== "allowWatchBookmarks"),
      ...deleting,
    ].sort((a, b) => (a.name < b.name ? -1 : 1));
    collection.push({
      ...ctx,
      method: "delete",
      id: `delete${group}Collection${scope}${endpoint.kind}`,
      doc: `Delete every ${endpoint.kind} that matches.`,
      action: "deletecollection",
      consumes: any,
      produces: media(dialect),
      parameters,
      body: "deleteOptions",
      answers: { "200": Status },
    });
  }
  const names = { group, scope, dialect, tag };
  const single: Operation[] = itemOperations(endpoint, { ...names, part: "", verbs, kind, object });
  const items: PathItem[] = [
    { path: base, parameters: [...outer, pretty], operations: collection },
    { path: `${base}/{name}`, parameters: [nameOf(endpoint.kind), ...outer, pretty], operations: single },
  ];
  if (namespaced && verbs.has("list")) {
    items.push({
      path: `${root}/${strategy.resource}`,
      parameters: [pretty],
      operations: [listOperation(`list${group}${endpoint.kind}ForAllNamespaces`)],
    });
  }
  for (const [part, { verbs: partVerbs }] of Object.entries(strategy.subresources ?? {})) {
    const operations = itemOperations(endpoint, {
      ...names,
      part,
      verbs: new Set<string>(partVerbs ?? partly),
      kind,
      object,
    });
    items.push({
      path: `${base}/{name}/${part}`,
      parameters: [nameOf(endpoint.kind), ...outer, pretty],
      operations,
    });
  }
  if (strategy.scale) {
    const operations = itemOperations(endpoint, {
      ...names,
      part: "scale",
      verbs: new Set(partly),
      kind: publishedKind(Scale.kind, dialect),
      object: Scale,
    });
    items.push({ path: `${base}/{name}/scale`, parameters: [nameOf("Scale"), ...outer, pretty], operations });
  }
  const served = items.filter(({ operations }) => operations.length > 0);
  return strategy.custom ? served.map((item) => asCustom(item, kind)) : served;
}

const customMedia = ["application/json", "application/yaml"];
const customPatches = patches.filter((type) => type !== "application/strategic-merge-patch+json");

const readVersion: readonly Parameter[] = [query("resourceVersion", "string", "How new the answer must be.")];

/**
 * Adapts the operations of a custom kind. Clients choose the patch type by this document, and custom
 * resources accept fewer types. The rest is as in the reference, which omits some of what they accept.
 */
function asCustom(item: PathItem, kind: NonNullable<Operation["kind"]>): PathItem {
  const operations = item.operations.map(({ body, ...operation }): Operation => {
    const { action, parameters } = operation;
    const whole = action === "deletecollection";
    return {
      ...operation,
      kind,
      consumes: action === "patch" ? customPatches : customMedia,
      produces: customMedia,
      parameters: whole ? listing : action === "get" ? readVersion : parameters,
      ...(action === "patch" && { answers: { "200": operation.answers["200"]! } }),
      ...(body !== undefined && !whole && { body }),
    };
  });
  return { ...item, operations };
}

const partly = ["get", "patch", "update"] as const;

interface ItemNames {
  readonly group: string;
  readonly scope: string;
  readonly part: string;
  readonly verbs: ReadonlySet<string>;
  readonly dialect: Dialect;
  readonly tag: string;
  readonly kind: NonNullable<Operation["kind"]>;
  readonly object: Message;
}

function itemOperations(
  endpoint: Endpoint,
  { group, scope, part, verbs, dialect, tag, kind, object }: ItemNames,
): Operation[] {
  const id = (verb: string): string => `${verb}${group}${scope}${endpoint.kind}${capital(part)}`;
  const what = part ? `${part} of a ${endpoint.kind}` : endpoint.kind;
  const ctx = { tag, kind, produces: media(dialect) };
  const operations: Operation[] = [];
  if (verbs.has("get"))
    operations.push({
      ...ctx,
      method: "get",
      id: id("read"),
      doc: `Read the ${what}.`,
      action: "get",
      consumes: ["*/*"],
      parameters: [],
      answers: { "200": object },
    });
  if (verbs.has("update"))
    operations.push({
      ...ctx,
      method: "put",
      id: id("replace"),
      doc: `Replace the ${what}.`,
      action: "put",
      consumes: ["*/*"],
      parameters: writing,
      body: object,
      answers: { "200": object, "201": object },
    });
  if (verbs.has("patch"))
    operations.push({
      ...ctx,
      method: "patch",
      id: id("patch"),
      doc: `Change the ${what} in part.`,
      action: "patch",
      consumes: patches,
      parameters: [...writing, force],
      body: "patch",
      answers: { "200": object, "201": object },
    });
  if (verbs.has("delete")) {
    const { returnsDeleted, beginDeletion } = endpoint.resource.strategy;
    const gone = returnsDeleted && !beginDeletion ? object : Status;
    operations.push({
      ...ctx,
      method: "delete",
      id: id("delete"),
      doc: `Delete a ${what}.`,
      action: "delete",
      consumes: ["*/*"],
      parameters: deleting,
      body: "deleteOptions",
      answers: { "200": gone, "202": gone },
    });
  }
  return operations;
}
