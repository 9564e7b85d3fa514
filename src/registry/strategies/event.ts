// Events: stored in the version of the events group, and served there and in the core group, which requires
// less.
import { CoreEvent, Event } from "#api";
import { type FieldError, invalidValue, required, zeroMicroTime } from "#base";
import { isDeepStrictEqual } from "node:util";
import { dns1123SubdomainProblems } from "#schema";
import { dnsSubdomain } from "../names.ts";
import { validateFinalizersQualified, validateMeta, validateMetaUpdate } from "../object-meta.ts";
import { type ApiObject, type RequestContext, type Served, strategy } from "../strategy.ts";
import { age } from "./cells/age.ts";
import { formatErrors, qualifiedNameErrors } from "./rules/format.ts";

type Renamed = readonly [hub: keyof Event, core: keyof CoreEvent];

/** The fields with other names in the core group. */
const renamed: readonly Renamed[] = [
  ["regarding", "involvedObject"],
  ["note", "message"],
  ["reportingController", "reportingComponent"],
  ["deprecatedSource", "source"],
  ["deprecatedFirstTimestamp", "firstTimestamp"],
  ["deprecatedLastTimestamp", "lastTimestamp"],
  ["deprecatedCount", "count"],
];
const same = [
  "metadata",
  "eventTime",
  "series",
  "action",
  "reason",
  "related",
  "type",
  "reportingInstance",
] as const;

function fromCore(served: ApiObject): Event {
  const from = served as unknown as Record<string, unknown>;
  const hub: Record<string, unknown> = {};
  for (const key of same) if (from[key] !== undefined) hub[key] = from[key];
  for (const [to, key] of renamed) if (from[key] !== undefined) hub[to] = from[key];
  if (hub["reportingController"] === "") delete hub["reportingController"];
  if (hub["reportingInstance"] === "") delete hub["reportingInstance"];
  return hub as unknown as Event;
}

const hubNames = new Map<string, string>(renamed.map(([hub, core]) => [core, hub]));
/** The fields of the core group in their order, each with its name in the stored version. */
const inOrder = Object.keys(CoreEvent.fields).map((key) => [key, hubNames.get(key) ?? key] as const);
const alwaysShown = new Set(["reportingComponent", "reportingInstance"]);

function toCore(hub: Event): ApiObject {
  const from = hub as unknown as Record<string, unknown>;
  const core: Record<string, unknown> = { kind: hub.kind, apiVersion: hub.apiVersion };
  for (const [key, name] of inOrder) {
    if (from[name] !== undefined) core[key] = from[name];
    else if (alwaysShown.has(key)) core[key] = "";
  }
  if (hub.series?.count === 0) core["series"] = { lastObservedTime: hub.series.lastObservedTime };
  return core as unknown as ApiObject;
}

const coreServed: Served<Event> = { schema: CoreEvent, toHub: fromCore, fromHub: toCore };

const viaCore = (ctx: RequestContext): boolean => (ctx.served.schema as unknown) === CoreEvent;
const maxLength = 128;
const maxNoteLength = 1024;

/** Validation common to both groups. Field names are those of the core group in either case. */
function commonErrors(event: Event, ctx: RequestContext): FieldError[] {
  const errors: FieldError[] = [];
  const namespace = event.metadata.namespace ?? "";
  const involvedNamespace = event.regarding.namespace ?? "";
  const mismatch = invalidValue(
    "involvedObject.namespace",
    involvedNamespace,
    "does not match event.namespace",
  );
  if (!event.eventTime) {
    if (
      involvedNamespace === "" ? namespace !== "" && namespace !== "default" : namespace !== involvedNamespace
    )
      errors.push(mismatch);
  } else {
    const controllerField = viaCore(ctx) ? "reportingComponent" : "reportingController";
    if (involvedNamespace === "" && namespace !== "default" && namespace !== ctx.dialect.data.systemNamespace)
      errors.push(mismatch);
    const controller = event.reportingController ?? "";
    if (controller === "") errors.push(required(controllerField));
    errors.push(...qualifiedNameErrors(controller, controllerField));
    errors.push(
      ...filled(event.reportingInstance, "reportingInstance"),
      ...filled(event.action, "action"),
      ...filled(event.reason, "reason"),
    );
    if (Buffer.byteLength(event.note ?? "") > maxNoteLength)
      errors.push(invalidValue("message", "", `can have at most ${maxNoteLength} characters`));
  }
  return [...errors, ...formatErrors(namespace, "namespace", dns1123SubdomainProblems)];
}

function filled(value: string | undefined, field: string): FieldError[] {
  if (!value) return [required(field)];
  return Buffer.byteLength(value) > maxLength
    ? [invalidValue(field, "", `can have at most ${maxLength} characters`)]
    : [];
}

function seriesErrors({ series }: Event): FieldError[] {
  if (!series) return [];
  const errors: FieldError[] = [];
  if (series.count < 2) errors.push(invalidValue("series.count", "", "should be at least 2"));
  if (!series.lastObservedTime) errors.push(required("series.lastObservedTime"));
  return errors;
}

function newErrors(event: Event): FieldError[] {
  const errors = seriesErrors(event);
  const unset = (field: string): FieldError => invalidValue(field, "", "needs to be unset");
  if (!event.eventTime) errors.push(required("eventTime"));
  if (event.type !== "Normal" && event.type !== "Warning")
    errors.push(invalidValue("type", "", `has invalid value: ${event.type ?? ""}`));
  if (event.deprecatedFirstTimestamp) errors.push(unset("firstTimestamp"));
  if (event.deprecatedLastTimestamp) errors.push(unset("lastTimestamp"));
  if (event.deprecatedCount) errors.push(unset("count"));
  if (event.deprecatedSource.component || event.deprecatedSource.host) errors.push(unset("source"));
  return errors;
}

/** Immutable fields; a changed reason is reported twice, as in the reference. */
const immutable: readonly (readonly [keyof Event, string])[] = [
  ["regarding", "involvedObject"],
  ["reason", "reason"],
  ["note", "message"],
  ["deprecatedSource", "source"],
  ["deprecatedFirstTimestamp", "firstTimestamp"],
  ["deprecatedLastTimestamp", "lastTimestamp"],
  ["deprecatedCount", "count"],
  ["reason", "reason"],
  ["type", "type"],
  ["eventTime", "eventTime"],
  ["action", "action"],
  ["related", "related"],
  ["reportingController", "reportingController"],
  ["reportingInstance", "reportingInstance"],
];

const texts: ReadonlySet<keyof Event> = new Set([
  "reason",
  "note",
  "type",
  "action",
  "reportingController",
  "reportingInstance",
]);
const counts: ReadonlySet<keyof Event> = new Set(["deprecatedCount"]);

/** Returns the value of a field as shown in errors, or its zero value. */
const shownValue = (event_: Event, key: keyof Event): unknown =>
  (event_[key] === zeroMicroTime ? undefined : event_[key]) ??
  (texts.has(key) ? "" : counts.has(key) ? 0 : null);

const ago = (time: string | null | undefined, now: Date): string => (time ? age(time, now) : "<unknown>");

function seen(event: Event, now: Date): { first: string; last: string; count: number } {
  const first = event.deprecatedFirstTimestamp
    ? ago(event.deprecatedFirstTimestamp, now)
    : ago(event.eventTime, now);
  const last = event.deprecatedLastTimestamp ? ago(event.deprecatedLastTimestamp, now) : first;
  if (event.series)
    return { first, last: ago(event.series.lastObservedTime, now), count: event.series.count };
  return { first, last, count: event.deprecatedCount || 1 };
}

function source(event: Event): string {
  const { component, host } = event.deprecatedSource;
  const name = component || (event.reportingController ?? "");
  const instance = host || event.reportingInstance;
  return instance ? `${name}, ${instance}` : name;
}

const selectable = [
  "kind",
  "namespace",
  "name",
  "uid",
  "apiVersion",
  "resourceVersion",
  "fieldPath",
] as const;

const selectableIn = (reference: string, controller: string): Record<string, string> => ({
  ...Object.fromEntries(selectable.map((key) => [`${reference}.${key}`, `involvedObject.${key}`])),
  reason: "reason",
  type: "type",
  [controller]: "reportingComponent",
});

export const event = strategy<Event>({
  resource: "events",
  singular: "event",
  shortNames: ["ev"],
  scope: "Namespaced",
  hub: Event,
  served: [{ schema: Event }, coreServed],
  errorGroup: "",
  createOnUpdate: true,
  metaChecks: { onCreate: 0, asChange: 0 },
  uncachedSemantics: true,
  withoutDependents: true,
  validate: (event_, ctx) => {
    const errors = commonErrors(event_, ctx);
    if (viaCore(ctx)) return errors;
    // The core group accepts any valid path segment as a name, the events group only a DNS subdomain.
    return [
      ...errors,
      ...validateMeta(event_.metadata, true, dnsSubdomain),
      ...validateFinalizersQualified(event_.metadata.finalizers, ctx.dialect),
      ...newErrors(event_),
    ];
  },
  validateUpdate: (event_, old, ctx) => {
    const errors = commonErrors(event_, ctx);
    if (viaCore(ctx)) return errors;
    errors.push(
      ...validateMetaUpdate(event_.metadata, old.metadata),
      ...validateFinalizersQualified(event_.metadata.finalizers, ctx.dialect),
    );
    if (!isDeepStrictEqual(event_.series, old.series)) errors.push(...seriesErrors(event_));
    for (const [key, field] of immutable) {
      if (!isDeepStrictEqual(event_[key] ?? null, old[key] ?? null))
        errors.push(invalidValue(field, shownValue(event_, key), "field is immutable"));
    }
    return errors;
  },
  fields: ({ regarding, reason, reportingController, deprecatedSource, type }) => ({
    "involvedObject.kind": regarding.kind ?? "",
    "involvedObject.namespace": regarding.namespace ?? "",
    "involvedObject.name": regarding.name ?? "",
    "involvedObject.uid": regarding.uid ?? "",
    "involvedObject.apiVersion": regarding.apiVersion ?? "",
    "involvedObject.resourceVersion": regarding.resourceVersion ?? "",
    "involvedObject.fieldPath": regarding.fieldPath ?? "",
    reason: reason ?? "",
    reportingComponent: reportingController ?? "",
    source: deprecatedSource.component || (reportingController ?? ""),
    type: type ?? "",
  }),
  indexedFields: ["involvedObject.uid", "involvedObject.name", "involvedObject.kind", "reason"],
  veryMany: true,
  fieldAliases: {
    events: selectableIn("regarding", "reportingController"),
    "": { ...selectableIn("involvedObject", "reportingComponent"), source: "source" },
  },
  ttlSeconds: (_event, ctx) => ctx.settings.eventTtlSeconds,
  columns: [
    {
      name: "Last Seen",
      type: "string",
      doc: "Time since the event was last observed.",
      cell: (event_, now) => seen(event_, now).last,
    },
    { name: "Type", type: "string", doc: "Normal or Warning.", cell: (event_) => event_.type ?? "" },
    {
      name: "Reason",
      type: "string",
      doc: "Machine-readable reason.",
      cell: (event_) => event_.reason ?? "",
    },
    {
      name: "Object",
      type: "string",
      doc: "Kind and name of the object the event concerns.",
      cell: ({ regarding }) =>
        regarding.name
          ? `${(regarding.kind ?? "").toLowerCase()}/${regarding.name}`
          : (regarding.kind ?? "").toLowerCase(),
    },
    {
      name: "Subobject",
      type: "string",
      priority: 1,
      doc: "Field of the object the event concerns.",
      cell: (event_) => event_.regarding.fieldPath ?? "",
    },
    { name: "Source", type: "string", priority: 1, doc: "Component that reported the event.", cell: source },
    {
      name: "Message",
      type: "string",
      doc: "Description of the event.",
      cell: (event_) => (event_.note ?? "").trim(),
    },
    {
      name: "First Seen",
      type: "string",
      priority: 1,
      doc: "Time since the event was first observed.",
      cell: (event_, now) => seen(event_, now).first,
    },
    {
      name: "Count",
      type: "string",
      priority: 1,
      doc: "Number of occurrences.",
      cell: (event_, now) => seen(event_, now).count,
    },
    {
      name: "Name",
      type: "string",
      format: "name",
      priority: 1,
      doc: "Name of the event.",
      cell: (event_) => event_.metadata.name ?? "",
    },
  ],
});
