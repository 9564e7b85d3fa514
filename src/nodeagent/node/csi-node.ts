// The object that says which storage drivers the node has: none, but who looks for it finds it, with the
// kinds that drivers took over.
import { ApiError, type Clock, type Log } from "#base";
import { type ApiClient, kinds } from "#client";
import { labelName } from "#dialect";

export interface CsiNodeOptions {
  readonly client: ApiClient;
  readonly clock: Clock;
  readonly log: Log;
  readonly nodeName: string;
  readonly nodeUid: string;
}

const takenOver = ["aws-ebs", "azure-disk", "azure-file", "cinder", "gce-pd", "vsphere-volume"];
const longestWaitMilliseconds = 60_000;

/** Makes the object, or gives it to the node of now; tries until it is there. */
export async function csiNode(
  { client, clock, log, nodeName, nodeUid }: CsiNodeOptions,
  signal: AbortSignal,
): Promise<void> {
  const csiNodes = client.of(kinds.csiNodes);
  const ownerReferences = [{ apiVersion: "v1", kind: "Node", name: nodeName, uid: nodeUid }];
  const migrated = labelName(client.dialect, "storage.alpha", "migrated-plugins");
  const annotations = {
    [migrated]: takenOver.map((kind) => `${client.dialect.names.volumes.pluginPrefix}${kind}`).join(","),
  };
  for (let wait = 1000; !signal.aborted; wait = Math.min(longestWaitMilliseconds, wait * 2)) {
    try {
      const found = await csiNodes.get(nodeName).catch((error: unknown) => {
        if (error instanceof ApiError && error.code === 404) return undefined;
        throw error;
      });
      if (!found)
        await csiNodes.create({
          metadata: { name: nodeName, annotations, ownerReferences },
          spec: { drivers: [] },
        });
      else if (found.metadata.ownerReferences?.[0]?.uid !== nodeUid)
        await csiNodes.patch(nodeName, "merge", { metadata: { ownerReferences, annotations } });
      return;
    } catch (error) {
      if (error instanceof ApiError && error.code < 500 && error.code !== 429 && error.code !== 409) {
        log.warn("CSINode rejected by the API server", {
          node: nodeName,
          error: error.message,
        });
        return;
      }
      await clock.sleep(wait, signal).catch(() => undefined);
    }
  }
}
