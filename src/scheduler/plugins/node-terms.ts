// Matching of node selector terms, as used by preferences and volumes.
import { type NodeSelectorTerm, podMatchesNode } from "#api";

export interface LabelledNode {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
}

/** Reports whether one term matches; a term without requirements matches nothing. */
export const matchesSelectorTerm = (term: NodeSelectorTerm, node: LabelledNode): boolean =>
  matchesTerms([term], node);

export const matchesTerms = (terms: readonly NodeSelectorTerm[], node: LabelledNode): boolean =>
  podMatchesNode(
    {
      affinity: {
        nodeAffinity: {
          requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms: [...terms] },
        },
      },
    },
    node,
  );
