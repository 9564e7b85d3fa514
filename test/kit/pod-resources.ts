// Calls an agent's pod resources API, as monitoring agents do.
import { join } from "node:path";
import { grpcChannel } from "#http";
import { PodResourcesList } from "#nodeagent";
import { protobufCodec } from "#schema";
import type { Cluster } from "./cluster.ts";

/** Resources assigned exclusively to a pod. */
export interface ListedPod {
  readonly name: string;
  readonly containers: readonly {
    readonly cpuIds: readonly number[];
    readonly memory: readonly { readonly memoryType: string }[];
    readonly devices: readonly { readonly resourceName: string; readonly deviceIds: readonly string[] }[];
  }[];
}

/** Returns all pods of the node; their names are unique in tests. */
export async function listPodResources({ agent, dialect }: Cluster): Promise<readonly ListedPod[]> {
  const socket = join(agent.rootDir, "pod-resources", `${dialect.cli.agent}.sock`);
  const channel = grpcChannel({ endpoints: [`unix://${socket}`] });
  const codec = protobufCodec(PodResourcesList, { style: "proto3" });
  const list = {
    path: "/v1.PodResourcesLister/List",
    encode: () => new Uint8Array(),
    decode: (bytes: Uint8Array) => codec.decode(bytes) as unknown as { podResources: readonly ListedPod[] },
  };
  try {
    return (await channel.unary(list, {})).podResources;
  } finally {
    channel.close();
  }
}
