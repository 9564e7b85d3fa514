// The origin of an agent's configuration, which older agents recorded in a checkpoint.
import { type TypeOf, optional } from "#schema";
import { NodeConfigSource } from "../core/node.ts";
import { nodeagentConfig } from "../packages.ts";

export const SerializedNodeConfigSource = nodeagentConfig.kind(
  "SerializedNodeConfigSource",
  "A source of configuration, kept on disk.",
  {
    source: optional(1, NodeConfigSource, "The source."),
  },
);
export type SerializedNodeConfigSource = TypeOf<typeof SerializedNodeConfigSource>;
