// The Node authorizer: grants nodes the rules every node needs, and read access to objects that the pods
// bound to them refer to.
import type { PersistentVolume, Pod, PolicyRule, VolumeAttachment } from "#api";
import { type User, nodesGroup } from "#authn";
import type { Requirement } from "#base";
import { type Dialect, groupName } from "#dialect";
import {
  type Attributes,
  type Authorizer,
  type Decision,
  type ResourceTarget,
  type Selectors,
  noOpinion,
} from "./authorizer.ts";
import { type PodReferences, podReferences, volumeSecretsOf } from "./node-references.ts";
import { ruleAllows } from "./rules.ts";

export interface NodeAuthorizerOptions {
  readonly dialect: Dialect;
  readonly rules: readonly PolicyRule[];
  readonly podsOn: (node: string) => Promise<readonly Pod[]>;
  readonly volume: (name: string) => Promise<PersistentVolume | undefined>;
  readonly volumes: () => Promise<readonly PersistentVolume[]>;
  /** Whether nodes read only their own object, and only their own pods. */
  readonly ownOnly?: boolean;
  readonly attachment: (name: string) => Promise<VolumeAttachment | undefined>;
}

type Check = (
  node: string,
  verb: string,
  target: ResourceTarget,
  selectors: Selectors | undefined,
) => Promise<Decision> | Decision;

const userPrefix = "system:node:";
const allowed: Decision = { verdict: "allow", reason: "" };
const because = (reason: string): Decision => ({ verdict: "no opinion", reason });
const ownVerbs = ["get", "create", "update", "patch", "delete"];

const nodeOf = ({ name, groups }: User): string | undefined =>
  name.startsWith(userPrefix) && groups.includes(nodesGroup) ? name.slice(userPrefix.length) : undefined;

/** Admission permits changes of the node's own object only. */
function ownNode(node: string, verb: string, { subresource, name }: ResourceTarget): Decision {
  if (subresource === "status" || subresource === "") {
    if (verb === "update" || verb === "patch") return allowed;
    if (subresource === "" && verb === "create") return allowed;
  }
  if (subresource !== "" || !["get", "list", "watch"].includes(verb)) return noOpinion;
  if (name === node) return allowed;
  return because(
    name === ""
      ? `node '${node}' cannot read all nodes, only its own Node object`
      : `node '${node}' cannot read '${name}', only its own Node object`,
  );
}

export function nodeAuthorizer(options: NodeAuthorizerOptions): Authorizer {
  const { dialect, rules } = options;
  const storage = groupName(dialect, { group: "storage", branded: true });
  const coordination = groupName(dialect, { group: "coordination", branded: true });
  const checks: Readonly<Record<string, Check>> = {
    "/secrets": reading((needed, { name }) => needed.secrets.has(name), secretOfVolume),
    "/configmaps": reading((needed, { name }) => needed.configMaps.has(name)),
    "/persistentvolumeclaims": async (node, verb, target) => {
      const toStatus = target.subresource === "status";
      if (toStatus && verb !== "update" && verb !== "patch")
        return because("can only get/update/patch this type");
      if (!toStatus && verb !== "get") return because("can only get individual resources of this type");
      if (!toStatus && target.subresource) return because("cannot get subresource");
      return await related(node, target, (needed, { name }) => needed.claims.has(name));
    },
    "/persistentvolumes": single(async (node, { name }) => {
      const claim = (await options.volume(name))?.spec.claimRef;
      return claim !== undefined && (await claimsOf(node)).has(`${claim.namespace}/${claim.name}`);
    }),
    [`${storage}/volumeattachments`]: single(
      async (node, { name }) => (await options.attachment(name))?.spec.nodeName === node,
    ),
    "/serviceaccounts": async (node, verb, target) => {
      if (verb !== "create" || !target.name)
        return because("can only create tokens for individual service accounts");
      if (target.subresource !== "token")
        return because("can only create token subresource of serviceaccount");
      return await related(node, target, (needed, { name }) => needed.account === name);
    },
    [`${coordination}/leases`]: (node, verb, { namespace, name }) => {
      if (!ownVerbs.includes(verb))
        return because("can only get, create, update, patch, or delete a node lease");
      if (namespace !== dialect.data.nodeLeaseNamespace)
        return because(`can only access leases in the "${dialect.data.nodeLeaseNamespace}" system namespace`);
      return verb === "create" || name === node
        ? allowed
        : because("can only access node lease with the same name as the requesting node");
    },
    [`${storage}/csinodes`]: (node, verb, { subresource, name }) => {
      if (!ownVerbs.includes(verb))
        return because("can only get, create, update, patch, or delete a CSINode");
      if (subresource) return because("cannot authorize CSINode subresources");
      return verb === "create" || name === node
        ? allowed
        : because("can only access CSINode with the same name as the requesting node");
    },
    ...(options.ownOnly && { "/nodes": ownNode, "/pods": ownPods }),
  };
  return {
    decide: (attributes: Attributes) => {
      const node = nodeOf(attributes.user);
      if (node === undefined) return noOpinion;
      if (node === "") return because(`unknown node for user ${JSON.stringify(attributes.user.name)}`);
      const { resource, verb } = attributes;
      const check = resource && checks[`${resource.group}/${resource.resource}`];
      if (check) return check(node, verb, resource, attributes.selectors);
      return rules.some((rule) => ruleAllows(rule, attributes)) ? allowed : noOpinion;
    },
    rulesFor: (user) => {
      const isNode = nodeOf(user) !== undefined;
      return {
        resourceRules: [],
        nonResourceRules: [],
        incomplete: isNode,
        ...(isNode && { error: "node authorizer does not support user rule resolution" }),
      };
    },
  };

  async function ownPods(
    node: string,
    verb: string,
    target: ResourceTarget,
    selectors: Selectors | undefined,
  ): Promise<Decision> {
    const { subresource, namespace, name } = target;
    if (subresource === "status") return verb === "update" || verb === "patch" ? allowed : noOpinion;
    if (subresource === "eviction") return verb === "create" ? allowed : noOpinion;
    if (subresource) return noOpinion;
    // Admission permits mirror pods of the node only.
    if (verb === "create" || verb === "delete") return allowed;
    if (verb === "list" || verb === "watch") {
      const isOwn = ({ key, operator, values }: Requirement): boolean =>
        key === "spec.nodeName" && operator === "in" && values.length === 1 && values[0] === node;
      if (selectors?.fields.some(isOwn)) return allowed;
      if (!name) return because("can only list/watch pods with spec.nodeName field selector");
    } else if (verb !== "get") return noOpinion;
    if (!name) return because("No Object name found");
    const pods = await options.podsOn(node);
    return pods.some(({ metadata }) => metadata.name === name && metadata.namespace === namespace)
      ? allowed
      : because(`no relationship found between node '${node}' and this object`);
  }

  function reading(
    needs: (needed: PodReferences, target: ResourceTarget) => boolean,
    otherwise?: (node: string, target: ResourceTarget) => Promise<boolean>,
  ): Check {
    return async (node, verb, target) => {
      if (verb !== "get" && verb !== "list" && verb !== "watch")
        return because("can only read resources of this type");
      if (target.subresource) return because("cannot read subresource");
      if (!target.namespace) return because("can only read namespaced object of this type");
      return await related(node, target, needs, otherwise);
    };
  }

  function single(isRelated: (node: string, target: ResourceTarget) => Promise<boolean>): Check {
    return async (node, verb, target) => {
      if (verb !== "get") return because("can only get individual resources of this type");
      if (target.subresource) return because("cannot get subresource");
      if (!target.name) return because("No Object name found");
      return (await isRelated(node, target))
        ? allowed
        : because(`no relationship found between node '${node}' and this object`);
    };
  }

  async function related(
    node: string,
    target: ResourceTarget,
    needs: (needed: PodReferences, target: ResourceTarget) => boolean,
    otherwise?: (node: string, target: ResourceTarget) => Promise<boolean>,
  ): Promise<Decision> {
    if (!target.name) return because("No Object name found");
    for (const pod of await podsOf(node))
      if (pod.metadata.namespace === target.namespace && needs(podReferences(pod), target)) return allowed;
    return (await otherwise?.(node, target))
      ? allowed
      : because(`no relationship found between node '${node}' and this object`);
  }

  async function claimsOf(node: string): Promise<ReadonlySet<string>> {
    const pods = await podsOf(node);
    return new Set(
      pods.flatMap((pod) =>
        [...podReferences(pod).claims].map((claim) => `${pod.metadata.namespace}/${claim}`),
      ),
    );
  }

  /** Mirror pods of static pods do not count: they must not grant access. */
  async function podsOf(node: string): Promise<readonly Pod[]> {
    const mirror = dialect.names.annotations.configMirror;
    return (await options.podsOn(node)).filter(
      ({ metadata }) => metadata.annotations?.[mirror] === undefined,
    );
  }

  /** Volumes of the node's pods may need secrets from other namespaces. */
  async function secretOfVolume(node: string, { namespace, name }: ResourceTarget): Promise<boolean> {
    const claims = await claimsOf(node);
    if (claims.size === 0) return false;
    const bound = (await options.volumes()).filter(
      ({ spec: { claimRef } }) => claimRef && claims.has(`${claimRef.namespace}/${claimRef.name}`),
    );
    return bound.some((volume) => volumeSecretsOf(volume).has(`${namespace}/${name}`));
  }
}
