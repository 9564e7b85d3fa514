// Compares two revisions of an object field by field. List elements are matched by their name or another key
// if they have one.
//
//   spec.replicas   status.conditions[type=Ready].status   metadata.labels["example.com/app"]   args[2]
import { isDeepStrictEqual } from "node:util";
import { own } from "#base";
import type { FieldChange } from "./wire.ts";

export interface FieldChanges {
  readonly fields: readonly FieldChange[];
  /** The number of changed fields omitted from `fields`. */
  readonly more: number;
}

const maxFields = 24;
const maxValueLength = 256;
const maxLevels = 32;
/** Fields that are reported elsewhere, or change with every update. */
const skipped = new Set(["metadata.managedFields", "metadata.resourceVersion", "metadata.generation"]);
/** Heartbeat fields: an object in which nothing else changed counts as unchanged. */
const heartbeatFields = new Set(["lastHeartbeatTime", "lastProbeTime", "renewTime"]);
/** Members that identify the elements of lists of objects, in order of preference. */
const listKeys = ["name", "type", "key", "uid", "ip", "mountPath", "containerPort", "port"];

type Json = Readonly<Record<string, unknown>>;

/** Returns the changed fields; if `values` is false, without their values. */
export function fieldChanges(before: Json, after: Json, values: boolean): FieldChanges {
  const fields: FieldChange[] = [];
  let more = 0;
  compare(before, after, "", 0);
  return { fields, more };

  function compare(from: unknown, to: unknown, path: string, level: number): void {
    if (from === to || skipped.has(path)) return;
    if (level < maxLevels) {
      if (isObject(from) && isObject(to)) {
        for (const key of new Set([...Object.keys(from), ...Object.keys(to)]))
          if (!heartbeatFields.has(key)) compare(own(from, key), own(to, key), pathTo(path, key), level + 1);
        return;
      }
      if (Array.isArray(from) && Array.isArray(to)) {
        compareLists(from, to, path, level);
        return;
      }
    }
    if (!isDeepStrictEqual(from, to)) add(from, to, path);
  }

  function compareLists(from: readonly unknown[], to: readonly unknown[], path: string, level: number): void {
    const key = listKeys.find((each) => identifiesElements(from, each) && identifiesElements(to, each));
    if (key === undefined) {
      for (let at = 0; at < Math.max(from.length, to.length); at++)
        compare(from[at], to[at], `${path}[${at}]`, level + 1);
      return;
    }
    const before_ = byKey(from, key);
    const after_ = byKey(to, key);
    for (const value of new Set([...before_.keys(), ...after_.keys()]))
      compare(before_.get(value), after_.get(value), `${path}[${key}=${value}]`, level + 1);
  }

  function add(from: unknown, to: unknown, path: string): void {
    if (fields.length === maxFields) {
      more++;
      return;
    }
    fields.push({
      path: path.slice(0, maxValueLength),
      op: from === undefined ? "added" : to === undefined ? "removed" : "changed",
      ...(values
        ? { ...(from !== undefined && { from: shown(from) }), ...(to !== undefined && { to: shown(to) }) }
        : { withheld: true }),
    });
  }
}

const isObject = (value: unknown): value is Json =>
  typeof value === "object" && value !== null && !Array.isArray(value);

const identifiesElements = (list: readonly unknown[], key: string): boolean =>
  list.every((each) => isObject(each) && ["string", "number"].includes(typeof own(each, key))) &&
  new Set(list.map((each) => (each as Json)[key])).size === list.length;

const byKey = (list: readonly unknown[], key: string): Map<string, unknown> =>
  new Map(list.map((each) => [String((each as Json)[key]), each]));

const pathTo = (path: string, key: string): string =>
  /^[A-Za-z_][\w-]*$/.test(key) ? (path === "" ? key : `${path}.${key}`) : `${path}[${JSON.stringify(key)}]`;

function shown(value: unknown): string {
  const text = JSON.stringify(value);
  return text.length > maxValueLength ? `${text.slice(0, maxValueLength)}…` : text;
}
