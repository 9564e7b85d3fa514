// A set of field paths, represented by the FieldsV1 object itself: keys are path elements in canonical order,
// `.`
// marks a node that is a member although it has children, and a node without children is a member.
//
//   { "f:spec": { "f:replicas": {}, "f:template": { ".": {}, "f:spec": {} } } }   = .spec.replicas .spec.template .spec.template.spec
//
// Sets are immutable. An operation returns its first operand if that is the result.

import { isShared } from "../shared-values.ts";
import type { Json } from "./json-value.ts";
import { isEmptyObject, isObject } from "./json-value.ts";
import {
  CanonicalOrder,
  type FieldPath,
  compareElements,
  parseElement,
  sortedElements,
} from "./path-element.ts";

export interface FieldSet {
  readonly [element: string]: FieldSet;
}
export type MutableFieldSet = Record<string, FieldSet>;

/** A member without children. As a root, the empty set. */
export const leaf: FieldSet = Object.freeze({});

export function isEmptySet(set: FieldSet): boolean {
  for (const element in set) if (element !== ".") return false;
  return true;
}

const isLeaf = (node: FieldSet): boolean => {
  if (node === leaf) return true;
  for (const _ in node) return false;
  return true;
};

/** Reports whether the node itself is a member, regardless of its children. */
export const isMember = (node: FieldSet): boolean => node["."] !== undefined || isLeaf(node);

/** Starts a node. Add its children in order, then call `finish`. */
export const start = (member: boolean): MutableFieldSet => (member ? { ".": leaf } : {});

/**
 * Returns the finished node: `leaf` if only the node itself is a member, undefined if there are no members.
 */
export function finish(node: MutableFieldSet): FieldSet | undefined {
  let member = false;
  for (const element in node) {
    if (element !== ".") return node;
    member = true;
  }
  return member ? leaf : undefined;
}

export function fieldSetOfPaths(paths: Iterable<FieldPath>): FieldSet {
  let set = leaf;
  for (const path of paths) if (path.length > 0) set = union(set, single(path));
  return set;
}

function single(path: FieldPath): FieldSet {
  let node = leaf;
  for (let i = path.length - 1; i >= 0; i--) node = { [path[i]!]: node };
  return node;
}

export function hasPath(set: FieldSet, path: FieldPath): boolean {
  let node: FieldSet | undefined = set;
  for (const element of path) {
    node = node[element];
    if (node === undefined) return false;
  }
  return path.length > 0 && isMember(node);
}

export function sameSets(a: FieldSet, b: FieldSet): boolean {
  if (a === b) return true;
  let count = 0;
  for (const element in a) {
    const other = b[element];
    if (other === undefined || !sameSets(a[element]!, other)) return false;
    count++;
  }
  for (const _ in b) count--;
  return count === 0;
}

/** Returns every path in the set: those that end at a level first, then those below it. */
export function pathsOf(set: FieldSet): FieldPath[] {
  const paths: FieldPath[] = [];
  const visit = (node: FieldSet, prefix: FieldPath): void => {
    const below: [FieldSet, FieldPath][] = [];
    for (const element in node) {
      if (element === ".") continue;
      const child = node[element]!;
      const path = [...prefix, element];
      if (isMember(child)) paths.push(path);
      if (!isLeaf(child)) below.push([child, path]);
    }
    for (const [child, path] of below) visit(child, path);
  };
  visit(set, []);
  return paths;
}

export const union = (a: FieldSet, b: FieldSet): FieldSet =>
  isEmptySet(b) ? a : isEmptySet(a) ? b : unionNodes(a, b, false);

/**
 * Returns the union of many sets, merged in pairs: accumulating them one by one would copy the result
 * repeatedly.
 */
export function unionOf(sets: readonly FieldSet[]): FieldSet {
  let round = sets;
  while (round.length > 1) {
    const pairs: FieldSet[] = [];
    for (let i = 0; i < round.length; i += 2)
      pairs.push(i + 1 < round.length ? union(round[i]!, round[i + 1]!) : round[i]!);
    round = pairs;
  }
  return round[0] ?? leaf;
}

function unionNodes(a: FieldSet, b: FieldSet, member: boolean): FieldSet {
  if (a === b) return a;
  if (addsMembers(a, b)) return mergeInOrder(a, b, member);
  return member ? marked(a) : a;
}

// Reports whether b has any member that a lacks.
function addsMembers(a: FieldSet, b: FieldSet): boolean {
  for (const element in b) {
    const left = a[element];
    if (left === undefined) return true;
    const right = b[element]!;
    if (left !== right && ((isMember(right) && !isMember(left)) || addsMembers(left, right))) return true;
  }
  return false;
}

function mergeInOrder(a: FieldSet, b: FieldSet, member: boolean): FieldSet {
  const result = start(member);
  const left = elementsOf(a);
  const right = elementsOf(b);
  let i = 0;
  let j = 0;
  while (i < left.length || j < right.length) {
    const order = i === left.length ? 1 : j === right.length ? -1 : compareElements(left[i]!, right[j]!);
    if (order < 0) result[left[i]!] = a[left[i++]!]!;
    else if (order > 0) result[right[j]!] = b[right[j++]!]!;
    else {
      const element = left[i++]!;
      j++;
      result[element] = unionChild(a[element]!, b[element]!);
    }
  }
  return result;
}

function unionChild(a: FieldSet, b: FieldSet): FieldSet {
  if (a === b) return a;
  if (isLeaf(b)) return isLeaf(a) ? a : marked(a);
  if (isLeaf(a)) return marked(b);
  return unionNodes(a, b, isMember(a) || isMember(b));
}

/** Returns a node with children as a member. */
const marked = (node: FieldSet): FieldSet => (node["."] === undefined ? { ".": leaf, ...node } : node);

function elementsOf(set: FieldSet): string[] {
  const elements: string[] = [];
  for (const element in set) if (element !== ".") elements.push(element);
  return elements;
}

/** Returns the members of both sets. */
export const intersection = (a: FieldSet, b: FieldSet): FieldSet =>
  combine(a, b, false, intersectChild, dropped) ?? leaf;

function intersectChild(a: FieldSet, b: FieldSet): FieldSet | undefined {
  return combine(a, b, isMember(a) && isMember(b), intersectChild, dropped);
}

/** Returns the members of a that are not in b. A parent in b removes only itself, not its children. */
export const difference = (a: FieldSet, b: FieldSet): FieldSet =>
  isEmptySet(b) ? a : (combine(a, b, false, differChild, kept) ?? leaf);

function differChild(a: FieldSet, b: FieldSet): FieldSet | undefined {
  return combine(a, b, isMember(a) && !isMember(b), differChild, kept);
}

/** Returns the members of a without the paths in b and everything below them. */
export const recursiveDifference = (a: FieldSet, b: FieldSet): FieldSet =>
  isEmptySet(b) ? a : (combine(a, b, false, cutChild, kept) ?? leaf);

function cutChild(a: FieldSet, b: FieldSet): FieldSet | undefined {
  return isMember(b) ? undefined : combine(a, b, isMember(a), cutChild, kept);
}

type Combine = (a: FieldSet, b: FieldSet) => FieldSet | undefined;

const kept = true;
const dropped = false;

/** Combines a's children with those of b; children that only a has are kept or dropped. */
function combine(
  a: FieldSet,
  b: FieldSet,
  member: boolean,
  both: Combine,
  keep: boolean,
): FieldSet | undefined {
  const result = start(member);
  let changed = member !== (a["."] !== undefined);
  for (const element in a) {
    if (element === ".") continue;
    const left = a[element]!;
    const right = b[element];
    const outcome = right === undefined ? (keep ? left : undefined) : both(left, right);
    if (outcome !== left) changed = true;
    if (outcome !== undefined) result[element] = outcome;
  }
  return changed || isLeaf(a) ? finish(result) : a;
}

/** Parses FieldsV1. Elements of unknown type are dropped; throws if the object is not a valid field set. */
export function parseFieldSet(fields: Json | undefined): FieldSet {
  if (fields === undefined || fields === null) return leaf;
  if (isShared(fields)) return fields as FieldSet;
  const set = parseNode(fields, true);
  return set === undefined || isEmptySet(set) ? leaf : set;
}

function parseNode(node: Json, root: boolean): FieldSet | undefined {
  if (!isObject(node)) throw new SyntaxError("a field set must be made of objects");
  if (isCanonical(node))
    return root && node["."] !== undefined ? withoutMark(node as FieldSet) : (node as FieldSet);
  const children = new Map<string, FieldSet>();
  for (const key in node) {
    if (key === ".") continue;
    const element = parseElement(key);
    if (element === undefined) continue;
    const child = parseNode(node[key]!, false)!;
    const before = children.get(element);
    children.set(element, before === undefined ? child : unionChild(before, child));
  }
  const result = start(!root && ("." in node || children.size === 0));
  for (const element of sortedElements(children.keys())) result[element] = children.get(element)!;
  return finish(result) ?? leaf;
}

function withoutMark(set: FieldSet): FieldSet {
  const { ".": _, ...rest } = set;
  return rest;
}

// Reports whether a node can be used as it is: known elements in canonical spelling and order.
function isCanonical(node: { readonly [key: string]: Json }): boolean {
  let last: string | undefined;
  let order: CanonicalOrder | undefined;
  for (const key in node) {
    const child = node[key];
    if (!isObject(child) || !isCanonical(child)) return false;
    if (key === ".") {
      if (last !== undefined || !isEmptyObject(child)) return false;
    } else if (!(order ??= new CanonicalOrder()).follows(key)) return false;
    last = key;
  }
  return last !== ".";
}
