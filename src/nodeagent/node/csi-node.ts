// The object that says which storage drivers the node has, with the kinds that drivers took over; and the
// annotation and labels of the node that go with it.
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
  /** Undefined until the node is registered. */
  readonly nodeUid: () => string | undefined;
}

export interface CsiNode extends CsiNodeRegistry {
  /** Makes the object, or gives it to the node of now; tries until it is there. */
  ensure(signal: AbortSignal): Promise<void>;
}

const takenOver = ["aws-ebs", "azure-disk", "azure-file", "cinder", "gce-pd", "vsphere-volume"];
const longestWaitMilliseconds = 60_000;
const triesPerChange = 5;

export function csiNode({ client, clock, log, nodeName, nodeUid }: CsiNodeOptions): CsiNode {
  const csiNodes = client.of(kinds.csiNodes);
  const nodes = client.of(kinds.nodes);
  const { dialect } = client;
  const nodeIdAnnotation = labelName(dialect, "csi.volume", "nodeid");

  async function present() {
    const ownerReferences = [{ apiVersion: "v1", kind: "Node", name: nodeName, uid: nodeUid() ?? "" }];
    const migrated = labelName(dialect, "storage.alpha", "migrated-plugins");
    const annotations = {
      [migrated]: takenOver.map((kind) => `${dialect.names.volumes.pluginPrefix}${kind}`).join(","),
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

  /** One change of the list at a time; tried again when somebody else was faster. */
  let changing: Promise<unknown> = Promise.resolve();
  function change(to: (drivers: readonly CSINodeDriver[]) => readonly CSINodeDriver[]): Promise<void> {
    const turn = changing.then(async () => {
      for (let tries = 1; ; tries++) {
        const { metadata, spec } = await present();
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

  /** The node's own names by driver, as an annotation; none when there is no driver. */
  async function annotate(change: (ids: Record<string, string>) => void, labels: object = {}): Promise<void> {
    const { metadata } = await nodes.get(nodeName);
    const ids = idsFrom(metadata.annotations?.[nodeIdAnnotation]);
    change(ids);
    const text = Object.keys(ids).length > 0 ? JSON.stringify(ids) : null;
    await nodes.patch(nodeName, "merge", {
      metadata: {
        annotations: { [nodeIdAnnotation]: text },
        ...(Object.keys(labels).length > 0 && { labels }),
      },
    });
  }

  return {
    ensure: async (signal) => {
      for (let wait = 1000; !signal.aborted; wait = Math.min(longestWaitMilliseconds, wait * 2)) {
        try {
          await present();
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
      const segments = info.accessibleTopology?.segments ?? {};
      await annotate((ids) => (ids[name] = info.nodeId), segments);
      await change((drivers) => [...drivers.filter((one) => one.name !== name), driverOf(name, info)]);
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
  const count = Number(maxVolumesPerNode ?? 0);
  return {
    name,
    nodeID: nodeId,
    topologyKeys: topologyKeys.length > 0 ? topologyKeys : null,
    ...(count > 0 && { allocatable: { count } }),
  };
}

function idsFrom(text: string | undefined): Record<string, string> {
  try {
    return { ...(JSON.parse(text ?? "{}") as Record<string, string>) };
  } catch {
    return {};
  }
}
