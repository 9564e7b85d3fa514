// API group names: declared without the product's suffix, written with it.

import { releaseVersion } from "#base";
import type { Dialect } from "./dialect.ts";

export interface GroupName {
  /** The group without the product's suffix: `events`, `apps`, or empty for the core group. */
  readonly group: string;
  /** Whether the dialect's suffix is appended on the wire. */
  readonly branded: boolean;
}
export interface GroupVersionName extends GroupName {
  readonly version: string;
}

/** Returns the group as clients write it: `events.<suffix>`, `apps`, or empty. */
export const groupName = (dialect: Dialect, { group, branded }: GroupName): string =>
  branded ? `${dialect.spelling.field(group)}.${dialect.wire.groupSuffix}` : group;

/** Returns the apiVersion: `events.<suffix>/v1`, `apps/v1`, or `v1` for the core group. */
export function apiVersionOf(dialect: Dialect, name: GroupVersionName): string {
  const group = groupName(dialect, name);
  return group ? `${group}/${name.version}` : name.version;
}

/** The inverse of groupName: a group that ends in the dialect's suffix is branded. */
export function groupFrom(dialect: Dialect, written: string): GroupName {
  const end = `.${dialect.wire.groupSuffix}`;
  return written.endsWith(end)
    ? { group: written.slice(0, -end.length), branded: true }
    : { group: written, branded: false };
}

/**
 * Returns a label name: `node`, `not-ready` → `node.<domain>/not-ready`; with an empty prefix
 * `<domain>/not-ready`.
 */
export const labelName = (dialect: Dialect, prefix: string, name: string): string =>
  `${prefix && `${prefix}.`}${dialect.data.labelDomain}/${name}`;

/** Returns the name of a component such as `scheduler`, which is also the first word of its user agent. */
export const componentName = (dialect: Dialect, component: string): string =>
  `${dialect.data.componentPrefix}${component}`;

/**
 * Returns the user agent of a component such as `scheduler`; the server takes its first word as the field
 * manager.
 */
export const componentAgent = (dialect: Dialect, component: string): string =>
  `${componentName(dialect, component)}/${releaseVersion}`;
