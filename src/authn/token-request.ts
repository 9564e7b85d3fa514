// Serves `serviceaccounts/token`: validates the request, binds the token to its object and determines its
// lifetime.

import type { BoundObjectReference, TokenRequest } from "#api";
import { badRequest, conflict, type FieldError, invalid, invalidValue, newUuid, notFound } from "#base";
import { groupName } from "#dialect";
import { type StoredObject, type TokenObjects, credentialIdOf } from "./service-account.ts";
import {
  type TokenFeatures,
  type TokenIssuer,
  type TokenRef,
  issueServiceAccountToken,
} from "./service-account-token.ts";

export interface TokenRequestOptions {
  readonly issuer: TokenIssuer;
  readonly objects: TokenObjects;
  /** Audiences of this server, used if a request names none. */
  readonly audiences: readonly string[];
  /** Maximum lifetime of a token; 0 means unlimited. */
  readonly maximumSeconds: number;
  /**
   * Whether tokens that agents mount into pods by default are valid for a year, with a warning recorded when they
   * are used past their requested lifetime.
   */
  readonly extend: boolean;
  readonly features?: TokenFeatures;
}

interface Admission {
  mutate(request: TokenRequest): Promise<void>;
  validate(draft: TokenRequest): Promise<void>;
}

export interface TokenRequestResponse {
  readonly body: TokenRequest;
  readonly warnings: readonly string[];
  /** Identifier of the token, if it has one. */
  readonly credentialId?: string | undefined;
}

/** The lifetime that agents request for every pod; only this exact value is extended. */
const mountedTokenSeconds = 3607;
const extendedSeconds = 365 * 24 * 3600;
const minSeconds = 600;
const maxSeconds = 2 ** 32;

/**
 * Serves a token request. `request` has been decoded and defaulted; `namespace` and `name` are those of the
 * path. Mutating admission runs before validation, validating admission after it.
 */
export async function serveTokenRequest(
  options: TokenRequestOptions,
  request: TokenRequest,
  target: { readonly namespace: string; readonly name: string; readonly now: number },
  admission: Admission = { mutate: async () => undefined, validate: async () => undefined },
): Promise<TokenRequestResponse> {
  const { namespace, name, now } = target;
  await admission.mutate(request);
  const kind = {
    group: groupName(options.issuer.dialect, { group: "authentication", branded: true }),
    kind: "TokenRequest",
  };
  const mismatch = (field: string, given: string, what: string): FieldError =>
    invalidValue(`metadata.${field}`, given, `must match the service account ${what} if specified`);
  const given = request.metadata;
  if (given.name && given.name !== name) throw invalid(kind, name, [mismatch("name", given.name, "name")]);
  if (given.namespace && given.namespace !== namespace)
    throw invalid(kind, name, [mismatch("namespace", given.namespace, "namespace")]);

  const account = await options.objects.serviceAccount(namespace, name);
  if (!account) throw notFound({ group: "", resource: "serviceaccounts" }, name);
  const audiences = request.spec.audiences?.length ? request.spec.audiences : [...options.audiences];
  let seconds = Number(request.spec.expirationSeconds ?? 3600);
  const draft: TokenRequest = {
    ...request,
    metadata: { ...given, name, namespace, creationTimestamp: timestamp(now) },
    spec: { ...request.spec, audiences, expirationSeconds: seconds },
  };
  if (seconds < minSeconds)
    throw invalid(kind, "", [
      invalidValue("spec.expirationSeconds", seconds, "may not specify a duration less than 10 minutes"),
    ]);
  if (seconds > maxSeconds)
    throw invalid(kind, "", [
      invalidValue("spec.expirationSeconds", seconds, "may not specify a duration larger than 2^32 seconds"),
    ]);
  await admission.validate(draft);

  const bound = await boundObject(options, request.spec.boundObjectRef ?? undefined, target);
  const warnings: string[] = [];
  if (options.maximumSeconds > 0 && seconds > options.maximumSeconds) {
    warnings.push(
      `requested expiration of ${seconds} seconds shortened to ${options.maximumSeconds} seconds`,
    );
    seconds = options.maximumSeconds;
  }
  const extended =
    options.extend &&
    bound.pod !== undefined &&
    seconds === mountedTokenSeconds &&
    audiences.every((audience) => options.audiences.includes(audience));
  const id = options.features?.ids ? newUuid() : undefined;
  const token = await issueServiceAccountToken(options.issuer, {
    namespace,
    account: { name, uid: account.metadata.uid ?? "" },
    audiences,
    now,
    seconds: extended ? extendedSeconds : seconds,
    ...bound,
    id,
    ...(extended && { warnAfterSeconds: seconds }),
  });
  const body: TokenRequest = {
    ...draft,
    spec: { ...draft.spec, expirationSeconds: seconds },
    status: { token, expirationTimestamp: timestamp(now + seconds * 1000) },
  };
  return { body, warnings, credentialId: id === undefined ? undefined : credentialIdOf(id) };
}

interface BoundObjects {
  readonly pod?: TokenRef;
  readonly secret?: TokenRef;
  readonly node?: Partial<TokenRef>;
}

const resources = { Pod: "pods", Secret: "secrets", Node: "nodes" } as const;

async function boundObject(
  { objects, features = {} }: Pick<TokenRequestOptions, "objects" | "features">,
  ref: BoundObjectReference | undefined,
  { namespace, name }: { readonly namespace: string; readonly name: string },
): Promise<BoundObjects> {
  if (!ref) return {};
  const { kind = "", apiVersion = "", name: boundName = "", uid } = ref;
  if (apiVersion.includes("/") || !isBindable(kind, features))
    throw badRequest(
      `cannot bind token to object of type ${apiVersion.includes("/") ? apiVersion : `/${apiVersion}`}, Kind=${kind}`,
    );
  if (boundName === "") throw badRequest("Name parameter required.");
  if (boundName.includes("/") || boundName.includes("%") || boundName === "." || boundName === "..")
    throw badRequest(`Name parameter invalid: ${JSON.stringify(boundName)}: it cannot stand in a path`);
  const object = await lookUp(objects, kind, namespace, boundName);
  if (!object) throw notFound({ group: "", resource: resources[kind] }, boundName);
  if (kind === "Pod" && object.spec?.serviceAccountName !== name) {
    throw badRequest(
      `cannot bind token for serviceaccount ${JSON.stringify(name)} to pod running with different serviceaccount name.`,
    );
  }
  if (uid && uid !== object.metadata.uid) {
    const why = `the UID in the bound object reference (${uid}) does not match the UID in record. The object might have been deleted and then recreated`;
    throw conflict({ group: "", resource: kind }, boundName, why);
  }
  const bound: TokenRef = { name: boundName, uid: object.metadata.uid ?? "" };
  if (kind === "Secret") return { secret: bound };
  if (kind === "Node") return { node: bound };
  const nodeName = object.spec?.nodeName;
  return { pod: bound, ...(features.podNodes && nodeName && { node: await nodeRef(objects, nodeName) }) };
}

function isBindable(kind: string, { nodeBinding }: TokenFeatures): kind is keyof typeof resources {
  if (kind !== "Node" || nodeBinding) return Object.hasOwn(resources, kind);
  return false;
}

const lookUp = (
  objects: TokenObjects,
  kind: keyof typeof resources,
  namespace: string,
  name: string,
): StoredObject | undefined | Promise<StoredObject | undefined> =>
  kind === "Node" ? objects.node(name) : objects[kind === "Pod" ? "pod" : "secret"](namespace, name);

/** Returns the node of a pod; without a UID if it does not exist. */
async function nodeRef(objects: TokenObjects, name: string): Promise<Partial<TokenRef>> {
  const uid = (await objects.node(name))?.metadata.uid;
  return { name, ...(uid && { uid }) };
}

const timestamp = (milliseconds: number): string => `${new Date(milliseconds).toISOString().slice(0, 19)}Z`;
