// Users, groups and the fixed names known to every cluster.

export interface User {
  readonly name: string;
  readonly uid?: string;
  readonly groups: readonly string[];
  readonly extra?: Readonly<Record<string, readonly string[]>>;
}

/**
 * An authenticated user with further results of authentication. Identities are shared between requests and
 * must not be modified.
 */
export interface Identity {
  readonly user: User;
  /** The audiences the credential is valid for; absent if the method does not support audiences. */
  readonly audiences?: readonly string[];
  /** Texts for Warning headers. */
  readonly warnings?: readonly string[];
  /** Annotations for the audit event. */
  readonly annotations?: Readonly<Record<string, string>>;
}

export const anonymousName = "system:anonymous";
/** Members are allowed everything, regardless of the authorizers. */
export const mastersGroup = "system:masters";
export const authenticatedGroup = "system:authenticated";
export const unauthenticatedGroup = "system:unauthenticated";
export const nodesGroup = "system:nodes";
export const monitoringGroup = "system:monitoring";
export const serviceAccountsGroup = "system:serviceaccounts";

export const anonymousIdentity: Identity = { user: { name: anonymousName, groups: [unauthenticatedGroup] } };

const serviceAccountPrefix = "system:serviceaccount:";
const label = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?$/;
const subdomain = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/;

export const serviceAccountName = (namespace: string, name: string): string =>
  `${serviceAccountPrefix}${namespace}:${name}`;
export const serviceAccountGroups = (namespace: string): string[] => [
  serviceAccountsGroup,
  `${serviceAccountsGroup}:${namespace}`,
];

/** Returns the service account of a user name, or undefined if it is not a service account's. */
export function splitServiceAccountName(
  username: string,
): { readonly namespace: string; readonly name: string } | undefined {
  if (!username.startsWith(serviceAccountPrefix)) return undefined;
  const [namespace = "", name = "", more] = username.slice(serviceAccountPrefix.length).split(":");
  if (
    more !== undefined ||
    namespace.length > 63 ||
    !label.test(namespace) ||
    name.length > 253 ||
    !subdomain.test(name)
  )
    return undefined;
  return { namespace, name };
}

/** Reports whether the user counts as unauthenticated. */
export const isAnonymous = (user: User): boolean =>
  user.name === anonymousName || user.groups.includes(unauthenticatedGroup);

const withGroup = new WeakMap<Identity, Identity>();

/**
 * Adds the group of all authenticated users, unless the identity already has it or its counterpart. Returns
 * the same object for the same identity.
 */
export function authenticated(identity: Identity): Identity {
  const { user } = identity;
  if (
    user.name === anonymousName ||
    user.groups.includes(authenticatedGroup) ||
    user.groups.includes(unauthenticatedGroup)
  )
    return identity;
  let known = withGroup.get(identity);
  if (!known) {
    known = { ...identity, user: { ...user, groups: [...user.groups, authenticatedGroup] } };
    withGroup.set(identity, known);
  }
  return known;
}
