// Expected pod counts of the controllers that own some pods: of the built-in kinds, and of any other with a
// scale subresource.
import { type AnyObject, type ApiClient, kinds } from "#client";
import { type ClusterView, type SharedInformer, controllerOf, isNotFound } from "#controllerkit";
import type { SeenPod } from "./pods.ts";

type Owner = NonNullable<ReturnType<typeof controllerOf>>;

export interface OwnerSizes {
  readonly total: number;
  /** Names of pods without a controller. */
  readonly unmanaged: readonly string[];
}

interface OwnerSize {
  readonly uid: string;
  readonly size: number;
}

interface ServedList {
  readonly resources?: readonly { readonly name: string; readonly kind: string }[];
}
interface Scale extends AnyObject {
  readonly spec?: { readonly replicas?: number };
}

/**
 * Returns a function that sums up the owners' sizes and throws if a size cannot be determined. `changed` is
 * called with the namespace of owners whose size may have changed.
 */
export function ownerSizes(
  client: ApiClient,
  view: ClusterView,
  onChanged: (namespace: string) => void,
): (pods: readonly SeenPod[]) => Promise<OwnerSizes> {
  const follow = (kind: Parameters<ClusterView["follow"]>[0]): SharedInformer<AnyObject> =>
    view.follow(kind, ({ object }) => onChanged(object.metadata.namespace ?? ""));
  const owners: Readonly<Record<string, SharedInformer<AnyObject>>> = {
    Deployment: follow(kinds.deployments),
    ReplicaSet: follow(kinds.replicaSets),
    StatefulSet: follow(kinds.statefulSets),
    ReplicationController: follow(kinds.replicationControllers),
  };
  const ownerOf = (object: AnyObject): AnyObject | undefined => {
    const reference = controllerOf(object);
    const found = reference && owners[reference.kind]?.get(object.metadata.namespace, reference.name);
    return found?.metadata.uid === reference?.uid ? found : undefined;
  };
  return async (pods) => {
    const sizes = new Map<string, number>();
    const unmanaged: string[] = [];
    for (const pod of pods) {
      const reference = controllerOf(pod);
      if (!reference) unmanaged.push(pod.metadata.name!);
      else if (!sizes.has(reference.uid)) {
        const owner = ownerOf(pod);
        // The topmost owner's size counts.
        const top = owner && (ownerOf(owner) ?? owner);
        const { uid, size } = top
          ? { uid: top.metadata.uid!, size: (top as Scale).spec?.replicas ?? 1 }
          : await sizeByScale(client, pod, reference);
        sizes.set(uid, size);
      }
    }
    return { total: [...sizes.values()].reduce((sum, size) => sum + size, 0), unmanaged };
  };
}

async function sizeByScale(
  client: ApiClient,
  { metadata }: SeenPod,
  { apiVersion, kind, name, uid }: Owner,
): Promise<OwnerSize> {
  const notFound = new Error(`found no controllers for pod "${metadata.name}"`);
  const [group] = apiVersion.includes("/") ? apiVersion.split("/") : [""];
  const root = apiVersion.includes("/") ? `/apis/${apiVersion}` : `/api/${apiVersion}`;
  const { resources = [] } = (await client.request("GET", root)) as ServedList;
  const plural = resources.find((each) => each.kind === kind && !each.name.includes("/"))?.name;
  if (plural === undefined) throw new Error(`no matches for kind "${kind}" in version "${apiVersion}"`);
  if (!resources.some((each) => each.name === `${plural}/scale`))
    throw new Error(`${plural}${group && `.${group}`} does not implement the scale subresource`);
  const path = `${root}/namespaces/${encodeURIComponent(metadata.namespace!)}/${plural}/${encodeURIComponent(name)}/scale`;
  let scale: Scale;
  try {
    scale = (await client.request("GET", path)) as Scale;
  } catch (error) {
    throw isNotFound(error) ? notFound : error;
  }
  if (scale.metadata.uid !== uid) throw notFound;
  return { uid, size: scale.spec?.replicas ?? 0 };
}
