// The origin of an agent's configuration, which older agents recorded in a checkpoint.
import { type TypeOf, optional } from "#schema";
import { NodeConfigSource } from "../core/node.ts";
import { nodeagentConfig } from "../packages.ts";

export const SerializedNodeConfigSource = nodeagentConfig.kind(
  "SerializedNodeConfigSource",
  "A serialized source of node configuration, stored on disk.",
  {
    source: optional(1, NodeConfigSource, "Source of the configuration."),
  },
);
export type SerializedNodeConfigSource = TypeOf<typeof SerializedNodeConfigSource>;
