// Parameters of admission policies: their lookup, and the check of who may refer to them.

import { type AdmissionAttributes, type AdmissionPlugin, type FindParams, typed } from "#admission";
import type { ParamKind, ParamRef, ValidatingAdmissionPolicy, ValidatingAdmissionPolicyBinding } from "#api";
import type { Authorizer } from "#authz";
import { type FieldError, forbiddenField, fromLabelSelector } from "#base";
import type { Catalog } from "#endpoints";
import type { Endpoint } from "#registry";
import { isDeepStrictEqual } from "node:util";
import { mastersGroup } from "#authn";

/** Splits `group/version`; the core group is a version alone. */
function splitVersion(apiVersion: string): { readonly group: string; readonly version: string } {
  const cut = apiVersion.indexOf("/");
  return { group: apiVersion.slice(0, Math.max(cut, 0)), version: apiVersion.slice(cut + 1) };
}

function endpointFor(catalog: Catalog, { apiVersion = "", kind }: ParamKind): Endpoint | undefined {
  const { group, version } = splitVersion(apiVersion);
  const endpoints = catalog.find(group, version)?.endpoints.values() ?? [];
  return [...endpoints].find((endpoint) => endpoint.kind === kind);
}

/** Reports whether objects of a kind can be used as parameters. */
export const paramKinds =
  (catalog: () => Catalog) =>
  (kind: ParamKind): boolean =>
    endpointFor(catalog(), kind) !== undefined;

type Found = Awaited<ReturnType<FindParams>>;

/**
 * Finds parameters. In policies of later releases a selector may choose them, and parameterNotFoundAction
 * says what happens if none are found.
 */
export function paramsFinder(catalog: () => Catalog): FindParams {
  return async (paramKind, ref, requestNamespace) => {
    const endpoint = endpointFor(catalog(), paramKind);
    // The kind is no longer served, so it has no objects.
    if (!endpoint) return noParams(ref);
    const { resource } = endpoint;
    const { name = "", parameterNotFoundAction: absent } = ref;
    const namespace = ref.namespace || (absent && resource.namespaced ? requestNamespace : "");
    if (resource.namespaced && namespace === "")
      return {
        error: absent
          ? "cannot use namespaced paramRef in policy binding that matches cluster-scoped resources"
          : "the parameter needs a namespace",
      };
    if (!resource.namespaced && namespace !== "") return { error: "the parameter has no namespace" };
    const found = ref.selector
      ? await selected(endpoint, namespace, ref.selector)
      : await named(endpoint, namespace, name);
    return found.length > 0 ? { objects: found } : noParams(ref);
  };
}

function noParams({ name = "", parameterNotFoundAction: absent }: ParamRef): Found {
  if (absent === "Allow") return { objects: [] };
  return {
    error: absent
      ? "no params found for policy binding with `Deny` parameterNotFoundAction"
      : `${name} not found`,
  };
}

type Objects = Extract<Found, { objects: unknown }>["objects"];

async function named({ resource, fromHub }: Endpoint, namespace: string, name: string): Promise<Objects> {
  const key = resource.keyOf(namespace, name);
  const cached = resource.source.getCached(key) ?? (await resource.source.get(key, { at: "latest" }));
  return cached ? [fromHub(resource.objectOf(cached)) as unknown as Record<string, unknown>] : [];
}

async function selected(
  { resource, fromHub }: Endpoint,
  namespace: string,
  labels: NonNullable<ParamRef["selector"]>,
): Promise<Objects> {
  const { items } = await resource.source.list({
    below: namespace === "" ? "" : `${namespace}/`,
    selector: fromLabelSelector(labels),
    freshness: { at: "any" },
  });
  return items.map((item) => fromHub(resource.objectOf(item)) as unknown as Record<string, unknown>);
}

/** Requires that users who create or update a policy or binding may read the parameters it refers to. */
export function policyParamsGuard(
  authorizer: Authorizer,
  catalog: () => Catalog,
  policies: (name: string) => Promise<ValidatingAdmissionPolicy | undefined>,
): AdmissionPlugin {
  const mayRead = async (
    attributes: AdmissionAttributes,
    kind: ParamKind | undefined,
    namespace: string,
    name: string,
  ): Promise<boolean> => {
    const { user } = attributes;
    if (user.groups.includes(mastersGroup)) return true;
    const target =
      kind?.apiVersion === undefined ? { group: "*", version: "*" } : splitVersion(kind.apiVersion);
    const resource = (kind && endpointFor(catalog(), kind)?.resource.strategy.resource) ?? "*";
    const { uid, extra } = user;
    const decision = await authorizer.decide({
      user: {
        name: user.name,
        groups: user.groups,
        ...(uid !== undefined && { uid }),
        ...(extra && { extra }),
      },
      verb: "get",
      resource: { ...target, resource, subresource: "", namespace, name },
    });
    return decision.verdict === "allow";
  };
  const policyErrors = async (attributes: AdmissionAttributes): Promise<FieldError[]> => {
    const { spec } = typed<ValidatingAdmissionPolicy>(attributes.object);
    const old = typed<ValidatingAdmissionPolicy | undefined>(attributes.oldObject);
    const { paramKind } = spec;
    if (!paramKind || (old && isDeepStrictEqual(old.spec.paramKind, paramKind))) return [];
    if (await mayRead(attributes, paramKind, "*", "*")) return [];
    const detail =
      `user ${attributes.user.name} must have "get" permission on all objects of the referenced paramKind ` +
      `(kind=${paramKind.kind ?? ""}, apiVersion=${paramKind.apiVersion ?? ""})`;
    return [forbiddenField("spec.paramKind", detail)];
  };
  const bindingErrors = async (attributes: AdmissionAttributes): Promise<FieldError[]> => {
    const { spec } = typed<ValidatingAdmissionPolicyBinding>(attributes.object);
    const old = typed<ValidatingAdmissionPolicyBinding | undefined>(attributes.oldObject);
    const { paramRef, policyName = "" } = spec;
    const same = old && isDeepStrictEqual([old.spec.paramRef, old.spec.policyName], [paramRef, policyName]);
    if (!paramRef || same) return [];
    const policy = await policies(policyName);
    const { namespace = "", name = "" } = paramRef;
    if (await mayRead(attributes, policy?.spec.paramKind, namespace, name)) return [];
    const detail = `user ${attributes.user.name} does not have "get" permission on the object referenced by paramRef`;
    return [forbiddenField("spec.paramRef", detail)];
  };
  return {
    name: "policy parameters guard",
    handles: ["CREATE", "UPDATE"],
    resources: ["validatingadmissionpolicies", "validatingadmissionpolicybindings"],
    validate: async (attributes) => {
      if (attributes.subresource !== "" || !attributes.object) return [];
      return attributes.resource.resource === "validatingadmissionpolicies"
        ? await policyErrors(attributes)
        : await bindingErrors(attributes);
    },
  };
}
