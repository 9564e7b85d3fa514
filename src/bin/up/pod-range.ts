// Publishes the pod CIDR of this node, so that other nodes can route to its pods.
import { existsSync, readFileSync } from "node:fs";
import { ApiError, type Clock } from "#base";
import { apiClient, connectionOf, https, kinds, readClientConfig } from "#client";
import type { Dialect } from "#dialect";

/** Returns the range from which the runtime's network plugins allocate addresses. */
export function podRangeIn(file: string): string | undefined {
  if (!existsSync(file)) return undefined;
  const { plugins = [] } = JSON.parse(readFileSync(file, "utf8")) as {
    plugins?: { ipam?: { ranges?: { subnet?: string }[][] } }[];
  };
  return plugins[0]?.ipam?.ranges?.[0]?.[0]?.subnet;
}

const pauseMilliseconds = 500;

/** Sets the node's pod CIDR once the node exists, unless it has one. */
export async function announcePodRange(
  of: {
    readonly config: string;
    readonly dialect: Dialect;
    readonly nodeName: string;
    readonly range: string;
  },
  clock: Clock,
  signal: AbortSignal,
): Promise<void> {
  const transport = https(connectionOf(readClientConfig(of.config)));
  const nodes = apiClient(transport, of.dialect).of(kinds.nodes);
  try {
    for (; !signal.aborted; await clock.sleep(pauseMilliseconds, signal).catch(() => undefined)) {
      try {
        const node = await nodes.get(of.nodeName);
        if (node.spec?.podCIDR) return;
        await nodes.update({ ...node, spec: { ...node.spec, podCIDR: of.range, podCIDRs: [of.range] } });
        return;
      } catch (error) {
        if (!(error instanceof ApiError)) continue;
        if (error.reason !== "NotFound" && error.reason !== "Conflict") throw error;
      }
    }
  } finally {
    transport.close();
  }
}
