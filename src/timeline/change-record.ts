// Converts a change seen in a watch cache to a journal record: the object, its field managers, and the
// changed fields.
import { type CachedObject, uidOf } from "#watchcache";
import { differingJson } from "./differing-json.ts";
import { elementsWith, memberOf } from "./encoded-json.ts";
import { fieldChanges } from "./field-changes.ts";
import type { JournalRecord } from "./journal-record.ts";
import type { ServedKind } from "./kinds.ts";
import { ownerInfo } from "./owner-graph.ts";
import type { OwnerInfo } from "./wire.ts";

/** One change, or several consecutive changes of one object. */
export interface ObservedChange {
  readonly kind: ServedKind;
  readonly type: JournalRecord["type"];
  /** Microseconds. */
  readonly time: number;
  readonly item: CachedObject;
  /** The object before the first of these changes. */
  readonly previous: CachedObject | undefined;
  readonly revisions: number;
}

interface StoredMeta {
  readonly ownerReferences?: readonly Parameters<typeof ownerInfo>[0][];
  readonly managedFields?: readonly ManagedFields[];
}

interface ManagedFields {
  readonly manager?: string;
  readonly operation?: string;
  readonly subresource?: string;
  readonly time?: string;
  readonly fieldsV1?: unknown;
}

type Stored = Readonly<Record<string, unknown>> & { readonly metadata?: StoredMeta };

/**
 * Revisions that are larger in total are not compared: parsing them would block the event loop for too long.
 */
const maxComparedBytes = 512 * 1024;

const ownersKey = Buffer.from('"ownerReferences":[');

/** Returns the owners of an object. Most have none, which is detected without parsing. */
export function ownersOf(item: CachedObject): readonly OwnerInfo[] {
  if (!item.json.includes(ownersKey)) return [];
  const owners = memberOf(item.json, ["metadata", "ownerReferences"]) as StoredMeta["ownerReferences"];
  return (owners ?? []).map(ownerInfo);
}

/**
 * Returns the record of a change, or undefined if nothing relevant has changed. Without `details` the
 * revisions are not compared.
 */
export function changeRecord(
  { kind, type, time, item, previous, revisions }: ObservedChange,
  details: boolean,
): Omit<JournalRecord, "sequence"> | undefined {
  const base = {
    type,
    time,
    revision: item.revision,
    group: kind.group,
    kind: kind.kind,
    resource: kind.plural,
    namespace: item.namespace,
    name: item.name,
    uid: uidOf(item),
    ...(revisions > 1 && { revisions }),
  };
  if (type !== "Changed") {
    const owners = ownersOf(item);
    const manager = type === "Created" ? firstManager(item) : undefined;
    return {
      ...base,
      ...(manager !== undefined && { managers: [manager] }),
      ...(owners.length > 0 && { owners }),
    };
  }
  if (!previous || !details || item.json.length + previous.json.length > maxComparedBytes) return base;
  const differing = differingJson(previous.json, item.json, managersPath);
  const [before, after] = differing as readonly [Stored, Stored];
  const isSecret = kind.kind === "Secret" && kind.group === "";
  const { fields, more } = fieldChanges(before, after, !isSecret);
  if (fields.length === 0) return undefined;
  const managers = changedManagers(before, after);
  const owners = fields.some(({ path }) => path.startsWith("metadata.ownerReferences"))
    ? (after.metadata?.ownerReferences ?? []).map(ownerInfo)
    : undefined;
  return {
    ...base,
    managers: managers.length > 0 ? managers : lastManagers(item),
    ...(owners && { owners }),
    fields,
    ...(more > 0 && { moreFields: more }),
  };
}

/** Returns the only field manager of a new object, without parsing the rest. */
function firstManager({ json }: CachedObject): string | undefined {
  const at = json.indexOf('"managedFields":[');
  if (at < 0) return undefined;
  const found = /"manager":("(?:[^"\\]|\\.)*")/.exec(json.toString("utf8", at, at + 1024));
  return found ? (JSON.parse(found[1]!) as string) : undefined;
}

const managersPath = ["metadata", "managedFields"];

const idOf = ({ manager, operation, subresource = "" }: ManagedFields): string =>
  JSON.stringify([manager, operation, subresource]);

/**
 * Returns the managers that own additional fields or wrote later than before, the latest first. A manager
 * that only lost fields did not write.
 */
function changedManagers({ metadata: before }: Stored, { metadata: after }: Stored): string[] {
  const known = new Map((before?.managedFields ?? []).map((each) => [idOf(each), each]));
  const changed = (after?.managedFields ?? []).filter((each) => {
    const old = known.get(idOf(each));
    return !old || old.time !== each.time || hasMore(each.fieldsV1, old.fieldsV1);
  });
  const latest = changed.sort((a, b) => ((a.time ?? "") < (b.time ?? "") ? 1 : -1));
  return [...new Set(latest.map(({ manager = "" }) => manager))];
}

/**
 * Returns the latest managers. Times are whole seconds: where they do not show a change, one of these
 * managers made it.
 */
function lastManagers({ json }: CachedObject): string[] {
  const all = elementsWith(json, managersPath, ["manager", "time"]) as readonly ManagedFields[];
  const last = all.reduce((latest, { time = "" }) => (time > latest ? time : latest), "");
  return [...new Set(all.filter(({ time = "" }) => time === last).map(({ manager = "" }) => manager))];
}

/** Reports whether a field tree contains a field that the other does not. */
function hasMore(tree: unknown, other: unknown): boolean {
  if (typeof tree !== "object" || tree === null) return false;
  const known = (other ?? {}) as Readonly<Record<string, unknown>>;
  for (const key in tree)
    if (!Object.hasOwn(known, key) || hasMore((tree as typeof known)[key], known[key])) return true;
  return false;
}
