// Tells the cluster which addresses the pods of this node have, so that other nodes find the way to them.
import { existsSync, readFileSync } from "node:fs";
import { ApiError, type Clock } from "#base";
import { apiClient, connectionOf, https, kinds, readClientConfig } from "#client";
import type { Dialect } from "#dialect";

/** The range that the network plug-ins of a runtime of our own give addresses from. */
export function podRangeIn(file: string): string | undefined {
  if (!existsSync(file)) return undefined;
  const { plugins = [] } = JSON.parse(readFileSync(file, "utf8")) as {
    plugins?: { ipam?: { ranges?: { subnet?: string }[][] } }[];
  };
  return plugins[0]?.ipam?.ranges?.[0]?.[0]?.subnet;
}

const pauseMilliseconds = 500;

/** Writes it once the node is there, unless it has one. */
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
