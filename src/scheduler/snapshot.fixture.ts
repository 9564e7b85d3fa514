// Test fixture: a scheduler snapshot of nodes with their pods, without volumes unless given.
import { dialects } from "#dialect";
import { type GivenGates, knownGates, resolveGates } from "#options";
import type { Snapshot } from "./framework.ts";
import { NodeInfo, type SeenNode, type SeenPod } from "./node-info.ts";

export type SeenNodes = readonly (readonly [SeenNode, SeenPod[]])[];

export const snapshotOf = (
  entries: SeenNodes,
  { gates = {}, volumes = {} }: { gates?: GivenGates; volumes?: Partial<Snapshot["volumes"]> } = {},
): Snapshot => ({
  nodes: new Map(entries.map(([each, pods]) => [each.metadata.name!, new NodeInfo(each, pods)])),
  dialect: dialects.orch,
  gates: resolveGates(knownGates, gates),
  namespaceLabels: () => ({}),
  ownerSelectors: () => [],
  volumes: {
    claim: () => undefined,
    volume: () => undefined,
    volumes: () => [],
    storageClass: () => undefined,
    csiNode: () => undefined,
    csiDriver: () => undefined,
    capacities: () => [],
    reservations: new Map(),
    ...volumes,
  },
});
