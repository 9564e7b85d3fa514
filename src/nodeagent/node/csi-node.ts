// Maintains the CSINode object, with the node's CSI drivers and the migrated in-tree plug-ins, and the
// corresponding annotation and labels of the node.
import type { CSINodeDriver } from "#api";
import { ApiError, type Clock, type Log } from "#base";
import { type ApiClient, kinds } from "#client";
import { labelName } from "#dialect";
import type { CsiNodeRegistry } from "../csi/drivers.ts";
import type { CsiNodeInfo } from "../csi/messages.ts";

export interface CsiNodeOptions {
  readonly client: ApiClient;
  readonly clock: Clock;
  readonly log: Log;
  readonly nodeName: string;
  /** Returns undefined until the node is registered. */
  readonly nodeUid: () => string | undefined;
}

export interface CsiNode extends CsiNodeRegistry {
  /** Creates the object or updates its owner to the current node; retries until it exists. */
  ensure(signal: AbortSignal): Promise<void>;
}

const migratedPlugins = ["aws-ebs", "azure-disk", "azure-file", "cinder", "gce-pd", "vsphere-volume"];
const maxWaitMilliseconds = 60_000;
const triesPerChange = 5;
const maxVolumes = 2 ** 31 - 1;

export function csiNode({ client, clock, log, nodeName, nodeUid }: CsiNodeOptions): CsiNode {
  const csiNodes = client.of(kinds.csiNodes);
  const nodes = client.of(kinds.nodes);
  const { dialect } = client;
  const nodeIdAnnotation = labelName(dialect, "csi.volume", "nodeid");

  async function ensureObject() {
    const ownerReferences = [{ apiVersion: "v1", kind: "Node", name: nodeName, uid: nodeUid() ?? "" }];
    const migrated = labelName(dialect, "storage.alpha", "migrated-plugins");
    const annotations = {
      [migrated]: migratedPlugins.map((kind) => `${dialect.names.volumes.pluginPrefix}${kind}`).join(","),
    };
    const found = await csiNodes.get(nodeName).catch((error: unknown) => {
      if (error instanceof ApiError && error.code === 404) return undefined;
      throw error;
    });
    if (!found)
      return await csiNodes.create({
        metadata: { name: nodeName, annotations, ownerReferences },
        spec: { drivers: [] },
      });
    return found.metadata.ownerReferences?.[0]?.uid === nodeUid()
      ? found
      : await csiNodes.patch(nodeName, "merge", { metadata: { ownerReferences, annotations } });
  }

  /** Changes the list of drivers. Changes are serialized and retried on conflicts with another writer. */
  let changing: Promise<unknown> = Promise.resolve();
  function change(to: (drivers: readonly CSINodeDriver[]) => readonly CSINodeDriver[]): Promise<void> {
    const turn = changing.then(async () => {
      for (let tries = 1; ; tries++) {
        const { metadata, spec } = await ensureObject();
        const old = spec.drivers ?? [];
        const drivers = to(old);
        if (JSON.stringify(drivers) === JSON.stringify(old)) return;
        try {
          await csiNodes.patch(nodeName, "merge", {
            metadata: { resourceVersion: metadata.resourceVersion },
            spec: { drivers },
          });
          return;
        } catch (error) {
          const isLost = error instanceof ApiError && error.code === 409;
          if (!isLost || tries >= triesPerChange) throw error;
        }
      }
    });
    changing = turn.catch(() => undefined);
    return turn;
  }

  /** Updates the node annotation with the node IDs by driver; removes it if there is no driver. */
  async function annotate(
    change: (ids: Record<string, string>) => void,
    labels: Readonly<Record<string, string>> = {},
  ): Promise<void> {
    const { metadata } = await nodes.get(nodeName);
    for (const [name, value] of Object.entries(labels)) {
      const existing = metadata.labels?.[name];
      if (existing !== undefined && existing !== value) throw new Error(collisionText(name, value, existing));
    }
    const ids = idsFrom(metadata.annotations?.[nodeIdAnnotation]);
    change(ids);
    const text = Object.keys(ids).length > 0 ? sortedJson(ids) : null;
    const isKnown = Object.keys(labels).every((name) => metadata.labels?.[name] !== undefined);
    if ((metadata.annotations?.[nodeIdAnnotation] ?? null) === text && isKnown) return;
    await nodes.patch(nodeName, "merge", {
      metadata: {
        annotations: { [nodeIdAnnotation]: text },
        ...(Object.keys(labels).length > 0 && { labels }),
      },
    });
  }

  return {
    ensure: async (signal) => {
      for (let wait = 1000; !signal.aborted; wait = Math.min(maxWaitMilliseconds, wait * 2)) {
        try {
          await ensureObject();
          return;
        } catch (error) {
          if (error instanceof ApiError && error.code < 500 && error.code !== 429 && error.code !== 409) {
            log.warn("CSINode rejected by the API server", { node: nodeName, error: error.message });
            return;
          }
          await clock.sleep(wait, signal).catch(() => undefined);
        }
      }
    },
    install: async (name, info) => {
      if (info.nodeId === "")
        throw new Error("error adding CSI driver node info: driverNodeID must not be empty");
      const segments = info.accessibleTopology?.segments ?? {};
      await annotate((ids) => (ids[name] = info.nodeId), segments).catch(failedToUpdate("Node", "node"));
      const driver = driverOf(name, info);
      await change((drivers) =>
        drivers.some((one) => one.name === name && isSame(one, driver))
          ? drivers
          : [...drivers.filter((one) => one.name !== name), driver],
      ).catch(failedToUpdate("CSINode", "CSINode"));
    },
    remove: async (name) => {
      await change((drivers) => drivers.filter((one) => one.name !== name));
      await annotate((ids) => delete ids[name]);
    },
  };
}

function driverOf(
  name: string,
  { nodeId, maxVolumesPerNode, accessibleTopology }: CsiNodeInfo,
): CSINodeDriver {
  const topologyKeys = Object.keys(accessibleTopology?.segments ?? {}).toSorted();
  const count = Math.min(maxVolumes, Number(maxVolumesPerNode ?? 0));
  return {
    name,
    nodeID: nodeId,
    topologyKeys: topologyKeys.length > 0 ? topologyKeys : null,
    ...(count > 0 && { allocatable: { count } }),
  };
}

const isSame = (a: CSINodeDriver, b: CSINodeDriver): boolean =>
  a.nodeID === b.nodeID &&
  JSON.stringify((a.topologyKeys ?? []).toSorted()) === JSON.stringify(b.topologyKeys ?? []) &&
  (a.allocatable?.count ?? 0) === (b.allocatable?.count ?? 0);

const sortedJson = (values: Readonly<Record<string, string>>): string =>
  JSON.stringify(Object.fromEntries(Object.entries(values).toSorted(([a], [b]) => (a < b ? -1 : 1))));

function collisionText(name: string, value: string, held: string): string {
  const pair = (of: string): string => `${JSON.stringify(name)}:${JSON.stringify(of)}`;
  return `detected topology value collision: driver reported ${pair(value)} but existing label is ${pair(held)}`;
}

/** Returns a function that rethrows an error with the kubelet's text. */
const failedToUpdate =
  (kind: string, what: string) =>
  (error: unknown): never => {
    const why = `timed out waiting for the condition; caused by: ${(error as Error).message}`;
    throw new Error(
      `error updating ${kind} object with CSI driver node info: error updating ${what}: ${why}`,
      {
        cause: error,
      },
    );
  };

function idsFrom(text: string | undefined): Record<string, string> {
  try {
    return { ...(JSON.parse(text ?? "{}") as Record<string, string>) };
  } catch {
    return {};
  }
}
