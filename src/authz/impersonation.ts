// Impersonation: the requested user, the authorization checks this needs, and the resulting user.
//
//   Impersonate-User: jane            impersonate users "jane", or serviceaccounts when the name is an account's
//   Impersonate-Group: dev            impersonate groups "dev", once per header
//   Impersonate-Extra-Scopes: a       impersonate userextras/scopes "a", once per value
//   Impersonate-Uid: 42               impersonate uids "42"

import {
  type Credentials,
  type User,
  anonymousName,
  authenticatedGroup,
  decodeKey,
  serviceAccountGroups,
  splitServiceAccountName,
  unauthenticatedGroup,
} from "#authn";
import { type Dialect, groupName } from "#dialect";
import type { ResourceTarget } from "./authorizer.ts";

export interface ImpersonationCheck {
  readonly verb: "impersonate";
  readonly resource: ResourceTarget;
}

export interface Impersonation {
  /** The requester must be allowed all of these. */
  readonly checks: readonly ImpersonationCheck[];
  readonly user: User;
}

/** The headers request groups, a uid or extra fields without a user. */
export class UserMissing extends Error {}

const extraPrefix = "impersonate-extra-";

/** Reports whether a header must be removed after impersonation. */
export const isImpersonationHeader = (name: string): boolean =>
  name === "impersonate-user" ||
  name === "impersonate-group" ||
  name === "impersonate-uid" ||
  name.startsWith(extraPrefix);

/** Returns the requested impersonation, or undefined without impersonation headers. Throws `UserMissing`. */
export function impersonation(
  request: Pick<Credentials, "headers" | "headerNames">,
  dialect: Dialect,
): Impersonation | undefined {
  let requested = false;
  for (const name of request.headerNames()) {
    if (isImpersonationHeader(name)) {
      requested = true;
      break;
    }
  }
  if (!requested) return undefined;
  const name = request.headers("impersonate-user")[0] ?? "";
  const groups = request.headers("impersonate-group");
  const uid = request.headers("impersonate-uid")[0] ?? "";
  const extras = [...request.headerNames()]
    .filter((header) => header.startsWith(extraPrefix))
    .map((header) => ({ key: decodeKey(header.slice(extraPrefix.length)), values: request.headers(header) }));
  const account = splitServiceAccountName(name);
  const authentication = groupName(dialect, { group: "authentication", branded: true });
  if (name === "") {
    const wanted = [
      ...groups.map((group) => reference("Group", group)),
      ...extras.flatMap(({ key, values }) =>
        values.map((value) => reference("UserExtra", value, `${authentication}/v1`, key)),
      ),
      ...(uid ? [reference("UID", uid, `${authentication}/v1`)] : []),
    ];
    if (!wanted.length && !extras.length) return undefined;
    throw new UserMissing(`requested [${wanted.join(" ")}] without impersonating a user`);
  }
  const checks = [
    account
      ? target("serviceaccounts", account.name, { namespace: account.namespace })
      : target("users", name),
    ...groups.map((group) => target("groups", group)),
    ...extras.flatMap(({ key, values }) =>
      values.map((value) =>
        target("userextras", value, { group: authentication, version: "v1", subresource: key }),
      ),
    ),
    ...(uid ? [target("uids", uid, { group: authentication, version: "v1" })] : []),
  ];
  const extra = new Map<string, string[]>();
  for (const { key, values } of extras) extra.set(key, [...(extra.get(key) ?? []), ...values]);
  const own = groups.length || !account ? groups : serviceAccountGroups(account.namespace);
  return {
    checks,
    user: {
      name,
      ...(uid && { uid }),
      groups: withAuthenticationGroup(name, own),
      ...(extra.size && { extra: Object.fromEntries(extra) }),
    },
  };
}

/** Adds the group of authenticated or unauthenticated users, unless one is present. */
function withAuthenticationGroup(name: string, groups: readonly string[]): string[] {
  if (name === anonymousName)
    return groups.includes(unauthenticatedGroup) ? [...groups] : [...groups, unauthenticatedGroup];
  return groups.includes(authenticatedGroup) || groups.includes(unauthenticatedGroup)
    ? [...groups]
    : [...groups, authenticatedGroup];
}

/**
 * Formats an object reference as kube-apiserver prints it: kind, namespace, name, uid, API version, resource
 * version, field.
 */
const reference = (kind: string, name: string, apiVersion = "", field = ""): string =>
  `{${[kind, "", name, "", apiVersion, "", field].join(" ")}}`;

const target = (resource: string, name: string, more: Partial<ResourceTarget> = {}): ImpersonationCheck => ({
  verb: "impersonate",
  resource: { group: "", version: "", resource, subresource: "", namespace: "", name, ...more },
});
