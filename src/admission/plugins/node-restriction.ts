// Restricts nodes to their own objects: the node itself within limits, its pods, its lease.
import type { Node, ObjectMeta, PersistentVolumeClaim, Pod, TokenRequest } from "#api";
import { nodesGroup } from "#authn";
import { podReferences } from "#authz";
import { forbidden, notFound } from "#base";
import { type Dialect, groupName } from "#dialect";
import { isDeepStrictEqual } from "node:util";
import { type UserInfo, type AdmissionPlugin, type AdmissionAttributes, typed } from "../attributes.ts";

export interface NodeRestrictionOptions {
  readonly dialect: Dialect;
  readonly pod: (namespace: string, name: string) => Promise<Pod | undefined>;
  readonly node: (name: string) => Promise<Node | undefined>;
  /** Whether nodes report the state of a claim's expansion. */
  readonly expansionRecovery?: boolean;
}

const userPrefix = "system:node:";

/** Returns the node of a user: empty if it cannot be determined, undefined if the user is not a node. */
export const nodeOf = ({ name, groups }: UserInfo): string | undefined =>
  name.startsWith(userPrefix) && groups.includes(nodesGroup) ? name.slice(userPrefix.length) : undefined;

export function nodeRestriction({
  dialect,
  pod: findPod,
  node: findNode,
  expansionRecovery = false,
}: NodeRestrictionOptions): AdmissionPlugin {
  const refused = (attributes: AdmissionAttributes, why: string): Error =>
    forbidden(attributes.resource, attributes.name, why);
  const leases = `${groupName(dialect, { group: "coordination", branded: true })}/leases`;
  const csiNodes = `${groupName(dialect, { group: "storage", branded: true })}/csinodes`;
  const rules: Readonly<
    Record<string, (attributes: AdmissionAttributes, node: string) => void | Promise<void>>
  > = {
    "/pods": podRules,
    "/nodes": nodeRules,
    "/persistentvolumeclaims": claimRules,
    "/serviceaccounts": tokenRules,
    [leases]: (attributes, node) => {
      const own = dialect.data.nodeLeaseNamespace;
      if (attributes.namespace !== own)
        throw refused(attributes, `can only access leases in the "${own}" system namespace`);
      if (nameOf(attributes) !== node)
        throw refused(attributes, "can only access node lease with the same name as the requesting node");
    },
    [csiNodes]: (attributes, node) => {
      if (nameOf(attributes) !== node)
        throw refused(attributes, "can only access CSINode with the same name as the requesting node");
    },
  };
  return {
    name: "NodeRestriction",
    handles: ["CREATE", "UPDATE", "DELETE"],
    resources: ["pods", "nodes", "persistentvolumeclaims", "serviceaccounts", "leases", "csinodes"],
    mutate: async (attributes) => {
      const node = nodeOf(attributes.user);
      if (node === undefined) return;
      if (node === "")
        throw refused(attributes, `could not determine node from user "${attributes.user.name}"`);
      await rules[`${attributes.resource.group}/${attributes.resource.resource}`]?.(attributes, node);
    },
  };

  async function podRules(attributes: AdmissionAttributes, node: string): Promise<void> {
    const { operation, subresource, namespace, name } = attributes;
    const onNode = async (what: string, podName = name): Promise<void> => {
      const pod = await findPod(namespace, podName);
      // The reference uses the singular resource name here.
      if (!pod) throw notFound({ group: "", resource: "pod" }, podName);
      if (pod.spec.nodeName !== node)
        throw refused(
          attributes,
          `node ${what === "evict" ? node : `"${node}"`} can only ${what} pods with spec.nodeName set to itself`,
        );
    };
    switch (`${operation} ${subresource}`) {
      case "CREATE ":
        return await mirrorRules(attributes, node);
      case "DELETE ":
        return await onNode("delete");
      case "CREATE eviction":
        return await onNode(
          "evict",
          name || ((attributes.object?.["metadata"] as ObjectMeta | undefined)?.name ?? ""),
        );
      case "UPDATE status": {
        const now = typed<Pod>(attributes.object);
        const old = typed<Pod>(attributes.oldObject);
        if (old.spec.nodeName !== node)
          throw refused(
            attributes,
            `node "${node}" can only update pod status for pods with spec.nodeName set to itself`,
          );
        if (!isDeepStrictEqual(now.metadata.labels ?? {}, old.metadata.labels ?? {}))
          throw refused(attributes, `node "${node}" cannot update labels through pod status`);
        return;
      }
      default:
        throw refused(
          attributes,
          `node "${node}" can only create and delete mirror pods, write their status and evict them`,
        );
    }
  }

  /** Mirror pods of a node must not refer to other objects of the cluster. */
  async function mirrorRules(attributes: AdmissionAttributes, node: string): Promise<void> {
    const pod = typed<Pod>(attributes.object);
    const { metadata, spec } = pod;
    const key = dialect.names.annotations.configMirror;
    const can = (what: string): Error =>
      refused(attributes, `node "${node}" can only create pods with ${what}`);
    if (metadata.annotations?.[key] === undefined)
      throw refused(
        attributes,
        `pod does not have "${key}" annotation, node "${node}" can only create mirror pods`,
      );
    if (spec.nodeName !== node) throw can("spec.nodeName set to itself");
    const [owner, ...others] = metadata.ownerReferences ?? [];
    if (others.length > 0) throw can("a single owner reference set to itself");
    if (owner?.apiVersion !== "v1" || owner.kind !== "Node" || owner.name !== node)
      throw can("an owner reference set to itself");
    if (!owner.controller) throw can("a controller owner reference set to itself");
    if (owner.blockOwnerDeletion)
      throw refused(attributes, `node "${node}" must not set blockOwnerDeletion on an owner reference`);
    const own = await findNode(node);
    if (!own) throw notFound({ group: "", resource: "nodes" }, node);
    if (own.metadata.uid !== owner.uid)
      throw refused(attributes, `node ${node} UID mismatch: expected ${owner.uid} got ${own.metadata.uid}`);
    const referred = strangeReference(pod);
    if (referred) throw refused(attributes, `node "${node}" can not create pods that reference ${referred}`);
  }

  function nodeRules(attributes: AdmissionAttributes, node: string): void {
    if (nameOf(attributes) !== node)
      throw refused(attributes, `node "${node}" is not allowed to modify node "${nameOf(attributes)}"`);
    if (!attributes.object) return;
    const { metadata, spec } = typed<Node>(attributes.object);
    const old = typed<Node | undefined>(attributes.oldObject);
    if (spec.configSource && !isDeepStrictEqual(spec.configSource, old?.spec.configSource))
      throw refused(
        attributes,
        `node "${node}" is not allowed to ${old ? "update configSource to a new" : "create pods with a"} non-nil configSource`,
      );
    if (old && !isDeepStrictEqual(spec.taints ?? [], old.spec.taints ?? []))
      throw refused(attributes, `node "${node}" is not allowed to modify taints`);
    const [now, before] = [metadata.labels ?? {}, old?.metadata.labels ?? {}];
    const wrong = [...new Set([...Object.keys(now), ...Object.keys(before)])].filter(
      (key) => now[key] !== before[key] && isReserved(key, dialect),
    );
    if (wrong.length > 0)
      throw refused(
        attributes,
        `${old ? "is not allowed to modify" : `node "${node}" is not allowed to set the following`} labels: ${wrong.toSorted().join(", ")}`,
      );
  }

  function claimRules(attributes: AdmissionAttributes, node: string): void {
    if (attributes.subresource !== "status" || attributes.operation !== "UPDATE")
      throw refused(attributes, "may only update PVC status");
    const bare = (claim: PersistentVolumeClaim): object => {
      const { resourceVersion: _version, managedFields: _owners, ...metadata } = claim.metadata;
      const { capacity: _capacity, conditions: _conditions, ...rest } = claim.status;
      const { resizeStatus: _state, allocatedResources: _allocated, ...status } = rest;
      return { ...claim, metadata, status: expansionRecovery ? status : rest };
    };
    if (
      !isDeepStrictEqual(
        bare(typed<PersistentVolumeClaim>(attributes.object)),
        bare(typed<PersistentVolumeClaim>(attributes.oldObject)),
      )
    )
      throw refused(
        attributes,
        `node "${node}" is not allowed to update fields other than status.capacity and status.conditions`,
      );
  }

  async function tokenRules(attributes: AdmissionAttributes, node: string): Promise<void> {
    if (attributes.operation !== "CREATE" || attributes.subresource !== "token") return;
    const ref = typed<TokenRequest>(attributes.object).spec.boundObjectRef;
    if (ref?.apiVersion !== "v1" || ref.kind !== "Pod" || !ref.name)
      throw refused(attributes, "node requested token not bound to a pod");
    if (!ref.uid) throw refused(attributes, "node requested token with a pod binding without a uid");
    const pod = await findPod(attributes.namespace, ref.name);
    if (!pod) throw notFound({ group: "", resource: "pod" }, ref.name);
    if (pod.metadata.uid !== ref.uid)
      throw refused(
        attributes,
        `the UID in the bound object reference (${ref.uid}) does not match the UID in record. The object might have been deleted and then recreated`,
      );
    if (pod.spec.nodeName !== node)
      throw refused(attributes, "node requested token bound to a pod scheduled on a different node");
  }
}

const nameOf = ({ operation, name, object }: AdmissionAttributes): string =>
  operation === "CREATE" ? ((object?.["metadata"] as ObjectMeta | undefined)?.name ?? name) : name;

/**
 * Reports whether nodes may not set a label: those that steer pods to nodes, and product labels except the
 * known ones.
 */
function isReserved(key: string, { names: { labels }, data, wire }: Dialect): boolean {
  const domain = key.includes("/") ? key.slice(0, key.indexOf("/")) : "";
  const within = (outer: string): boolean => domain === outer || domain.endsWith(`.${outer}`);
  if (within(labels.nodeRestrictionPrefix)) return true;
  if (!within(data.labelDomain) && !within(wire.groupSuffix)) return false;
  // prettier-ignore
  const own: readonly string[] = [labels.hostname, labels.zone, labels.region, labels.betaZone, labels.betaRegion, labels.betaInstanceType, labels.instanceType, labels.os, labels.arch, labels.betaOs, labels.betaArch];
  return !own.includes(key) && !within(labels.agentPrefix) && !within(labels.nodePrefix);
}

/** Returns the kind of objects that a mirror pod must not refer to but does. */
function strangeReference(pod: Pod): string | undefined {
  const { account, secrets, configMaps } = podReferences(pod);
  if (account) return "a service account";
  if (secrets.size > 0) return "secrets";
  if (configMaps.size > 0) return "configmaps";
  const claims = pod.spec.volumes?.some((volume) => volume.persistentVolumeClaim);
  return claims ? "persistentvolumeclaims" : undefined;
}
