// The operations of every served path, in neutral form; the documents of both versions are written from them.
import type { Dialect } from "#dialect";
import type { Message } from "#schema";
import type { Endpoint } from "#registry";
import { type Catalog, type GroupVersion, verbsOf } from "../catalog.ts";

export interface Parameter {
  readonly name: string;
  readonly in: "query" | "path" | "body";
  readonly type: "string" | "integer" | "boolean" | "object";
  readonly required?: boolean;
  readonly doc: string;
}

export interface Operation {
  readonly method: "get" | "post" | "put" | "patch" | "delete";
  readonly id: string;
  readonly tag: string;
  readonly doc: string;
  readonly action?: string;
  readonly kind?: { readonly group: string; readonly version: string; readonly kind: string };
  readonly consumes: readonly string[];
  readonly produces: readonly string[];
  readonly parameters: readonly Parameter[];
  readonly body?: Message | "patch" | "deleteOptions";
  /** What a status answers with. */
  readonly answers: Readonly<Record<string, Message | "status" | "string" | "list">>;
}

export interface PathItem {
  readonly path: string;
  readonly parameters: readonly Parameter[];
  readonly operations: readonly Operation[];
}

const query = (name: string, type: Parameter["type"], doc: string): Parameter => ({ name, in: "query", type, doc });
const pretty = query("pretty", "string", "If 'true', the answer is printed for people.");
const dryRun = query("dryRun", "string", "When All, nothing is stored: the answer is what would have been.");
const fieldManager = query("fieldManager", "string", "Who makes the change; owns the fields it sets.");
const fieldValidation = query("fieldValidation", "string", "What becomes of unknown and repeated fields: Ignore, Warn or Strict.");
const force = query("force", "boolean", "Apply takes over fields that others own.");
const listing: readonly Parameter[] = [
  query("allowWatchBookmarks", "boolean", "Whether a watch may get marks that carry only a version."),
  query("continue", "string", "Where the page before this one ended."),
  query("fieldSelector", "string", "Only objects whose fields match."),
  query("labelSelector", "string", "Only objects whose labels match."),
  query("limit", "integer", "How many objects a page holds at the most."),
  query("resourceVersion", "string", "How new the answer must be."),
  query("resourceVersionMatch", "string", "How resourceVersion is to be taken: Exact or NotOlderThan."),
  query("sendInitialEvents", "boolean", "Whether a watch begins with what is there."),
  query("timeoutSeconds", "integer", "When the call ends, whatever happens."),
  query("watch", "boolean", "Follow changes instead of listing."),
];
const deleting: readonly Parameter[] = [
  dryRun,
  query("gracePeriodSeconds", "integer", "Seconds the object has to end in good order; 0 removes it at once."),
  query("orphanDependents", "boolean", "No longer used: see propagationPolicy."),
  query("propagationPolicy", "string", "What becomes of dependents: Orphan, Background or Foreground."),
];
const nameOf = (kind: string): Parameter => ({ name: "name", in: "path", type: "string", required: true, doc: `Name of the ${kind}.` });
const namespace: Parameter = { name: "namespace", in: "path", type: "string", required: true, doc: "The namespace." };

const media = (dialect: Dialect): string[] => ["application/json", "application/yaml", dialect.wire.protobufMediaType];
const streams = (dialect: Dialect): string[] => ["application/json;stream=watch", `${dialect.wire.protobufMediaType};stream=watch`];
const patches = ["application/json-patch+json", "application/merge-patch+json", "application/strategic-merge-patch+json", "application/apply-patch+yaml"];

const capital = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1);

/** `EventsV1`, `CoreV1`, `RbacAuthorizationV1`: the group and version inside operation ids. */
function idPart({ group, version }: GroupVersion, dialect: Dialect): string {
  const bare = group === "" ? "core" : group.replace(`.${dialect.wire.groupSuffix}`, "");
  return bare.split(".").map(capital).join("") + capital(version);
}

const tagOf = (version: GroupVersion, dialect: Dialect): string => {
  const part = idPart(version, dialect);
  const group = part.slice(0, -version.version.length);
  return `${group.charAt(0).toLowerCase()}${group.slice(1)}_${version.version}`;
};

export function pathItems(catalog: Catalog, dialect: Dialect): Map<GroupVersion, PathItem[]> {
  return new Map(catalog.versions.map((version) => [version, [...version.endpoints.values()].flatMap((endpoint) => resourcePaths(version, endpoint, dialect))]));
}

function resourcePaths(version: GroupVersion, endpoint: Endpoint, dialect: Dialect): PathItem[] {
  const { strategy, namespaced } = endpoint.resource;
  const root = version.group === "" ? `/api/${version.version}` : `/apis/${version.groupVersion}`;
  const place = namespaced ? "/namespaces/{namespace}" : "";
  const base = `${root}${place}/${strategy.resource}`;
  const verbs = new Set<string>(verbsOf(endpoint));
  const kind = { group: endpoint.group, version: endpoint.version, kind: endpoint.kind };
  const group = idPart(version, dialect);
  const tag = tagOf(version, dialect);
  const scope = namespaced ? "Namespaced" : "";
  const shared = { tag, kind };
  const outer = namespaced ? [namespace] : [];
  const any = ["*/*"];
  const object = endpoint.schema;
  const write = [dryRun, fieldManager, fieldValidation];
  const listOperation = (id: string, all = false): Operation => ({
    ...shared,
    method: "get",
    id,
    doc: `List or watch objects of kind ${endpoint.kind}.`,
    action: "list",
    consumes: any,
    produces: [...media(dialect), ...streams(dialect)],
    parameters: all ? [] : listing,
    answers: { "200": "list" },
  });
  const collection: Operation[] = [];
  if (verbs.has("list")) collection.push(listOperation(`list${group}${scope}${endpoint.kind}`));
  if (verbs.has("create")) {
    collection.push({
      ...shared,
      method: "post",
      id: `create${group}${scope}${endpoint.kind}`,
      doc: `Create a ${endpoint.kind}.`,
      action: "post",
      consumes: any,
      produces: media(dialect),
      parameters: write,
      body: object,
      answers: { "200": object, "201": object, "202": object },
    });
  }
  if (verbs.has("deletecollection")) {
    const parameters = [...listing.filter(({ name }) => name !== "watch" && name !== "allowWatchBookmarks"), ...deleting].sort((a, b) => (a.name < b.name ? -1 : 1));
    collection.push({
      ...shared,
      method: "delete",
      id: `delete${group}Collection${scope}${endpoint.kind}`,
      doc: `Delete every ${endpoint.kind} that matches.`,
      action: "deletecollection",
      consumes: any,
      produces: media(dialect),
      parameters,
      body: "deleteOptions",
      answers: { "200": "status" },
    });
  }
  const single: Operation[] = itemOperations(endpoint, { group, scope, part: "", verbs, dialect, tag });
  const items: PathItem[] = [
    { path: base, parameters: [...outer, pretty], operations: collection },
    { path: `${base}/{name}`, parameters: [nameOf(endpoint.kind), ...outer, pretty], operations: single },
  ];
  if (namespaced && verbs.has("list")) {
    items.push({
      path: `${root}/${strategy.resource}`,
      parameters: [...listing, pretty].sort((a, b) => (a.name < b.name ? -1 : 1)),
      operations: [listOperation(`list${group}${endpoint.kind}ForAllNamespaces`, true)],
    });
  }
  for (const [part, { verbs: partVerbs }] of Object.entries(strategy.subresources ?? {})) {
    const operations = itemOperations(endpoint, { group, scope, part, verbs: new Set<string>(partVerbs ?? ["get", "patch", "update"]), dialect, tag });
    items.push({ path: `${base}/{name}/${part}`, parameters: [nameOf(endpoint.kind), ...outer, pretty], operations });
  }
  return items.filter(({ operations }) => operations.length > 0);
}

function itemOperations(
  endpoint: Endpoint,
  { group, scope, part, verbs, dialect, tag }: { group: string; scope: string; part: string; verbs: ReadonlySet<string>; dialect: Dialect; tag: string },
): Operation[] {
  const kind = { group: endpoint.group, version: endpoint.version, kind: endpoint.kind };
  const id = (verb: string): string => `${verb}${group}${scope}${endpoint.kind}${capital(part)}`;
  const what = part ? `${part} of a ${endpoint.kind}` : endpoint.kind;
  const object = endpoint.schema;
  const shared = { tag, kind, produces: media(dialect) };
  const write = [dryRun, fieldManager, fieldValidation];
  const operations: Operation[] = [];
  if (verbs.has("get"))
    operations.push({ ...shared, method: "get", id: id("read"), doc: `Read the ${what}.`, action: "get", consumes: ["*/*"], parameters: [], answers: { "200": object } });
  if (verbs.has("update"))
    operations.push({
      ...shared,
      method: "put",
      id: id("replace"),
      doc: `Replace the ${what}.`,
      action: "put",
      consumes: ["*/*"],
      parameters: write,
      body: object,
      answers: { "200": object, "201": object },
    });
  if (verbs.has("patch"))
    operations.push({
      ...shared,
      method: "patch",
      id: id("patch"),
      doc: `Change the ${what} in part.`,
      action: "patch",
      consumes: patches,
      parameters: [...write, force],
      body: "patch",
      answers: { "200": object, "201": object },
    });
  if (verbs.has("delete")) {
    const gone = endpoint.resource.strategy.returnsDeleted ? object : ("status" as const);
    operations.push({
      ...shared,
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
