// Plugins that depend on the node alone: its name, taints, labels, ports and images.
import { type NodeAffinity, type Taint, type Toleration, tolerates, podMatchesNode } from "#api";
import { type PodView, type Plugin, type NodeRejection, maxScore, normalizeByMax } from "../framework.ts";
import type { SeenPod } from "../node-info.ts";
import { collide, resourcesOf } from "../requests.ts";
import { matchesSelectorTerm, matchesTerms } from "./node-terms.ts";

const tolerated = (pod: SeenPod, taint: Taint): boolean =>
  (pod.spec.tolerations ?? []).some((each: Toleration) => tolerates(each, taint));

const rejection = (plugin: string, reason: string, isFinal: boolean): NodeRejection => ({
  plugin,
  reasons: [reason],
  isFinal,
});

export const nodeUnschedulable: Plugin = {
  name: "NodeUnschedulable",
  requeueEvents: ["node added", "node taints"],
  view: (pod, { dialect }) => {
    const taint = { key: dialect.names.taints.unschedulable, effect: "NoSchedule" };
    const isTolerated = tolerated(pod, taint);
    return {
      filter: ({ node }) =>
        node.spec.unschedulable && !isTolerated
          ? rejection("NodeUnschedulable", "node(s) were unschedulable", true)
          : undefined,
    };
  },
};

export const nodeName: Plugin = {
  name: "NodeName",
  requeueEvents: ["node added"],
  view: ({ spec }) => ({
    filter: ({ name }) =>
      spec.nodeName && spec.nodeName !== name
        ? rejection("NodeName", "node(s) didn't match the requested node name", true)
        : undefined,
  }),
};

export const taintToleration: Plugin = {
  name: "TaintToleration",
  weight: 3,
  requeueEvents: ["node added", "node taints"],
  view: (pod) => ({
    filter: ({ node }) => {
      const taint = (node.spec.taints ?? []).find(
        (each) => (each.effect === "NoSchedule" || each.effect === "NoExecute") && !tolerated(pod, each),
      );
      return taint
        ? rejection(
            "TaintToleration",
            `node(s) had untolerated taint {${taint.key}: ${taint.value ?? ""}}`,
            true,
          )
        : undefined;
    },
  }),
  scorer: (pod) => ({
    score: ({ node }) =>
      (node.spec.taints ?? [])
        .filter(({ effect }) => effect === "PreferNoSchedule")
        .filter(
          (taint) =>
            !(pod.spec.tolerations ?? [])
              .filter(({ effect }) => !effect || effect === "PreferNoSchedule")
              .some((each) => tolerates(each, taint)),
        ).length,
    normalize: (scores) => normalizeByMax(scores, true),
  }),
};

/** Filters and scores by the pod's node affinity and the affinity added by the profile. */
export const nodeAffinity = (added?: NodeAffinity): Plugin => ({
  name: "NodeAffinity",
  weight: 2,
  requeueEvents: ["node added", "node labels"],
  view: ({ spec }): PodView => {
    const only = namedNodes(spec);
    if (only?.size === 0)
      return { rejectsPod: rejection("NodeAffinity", "pod affinity terms conflict", true) };
    const enforced = added?.requiredDuringSchedulingIgnoredDuringExecution;
    const required = spec.affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution;
    if (!enforced && !required && !spec.nodeSelector) return {};
    return {
      ...(only && { onlyNodes: only }),
      filter: ({ name, labels }) => {
        if (enforced && !matchesTerms(enforced.nodeSelectorTerms ?? [], { name, labels }))
          return rejection("NodeAffinity", "node(s) didn't match scheduler-enforced node affinity", true);
        return podMatchesNode(spec, { name, labels })
          ? undefined
          : rejection("NodeAffinity", "node(s) didn't match Pod's node affinity/selector", true);
      },
    };
  },
  scorer: ({ spec }) => {
    const preferred = [
      ...(added?.preferredDuringSchedulingIgnoredDuringExecution ?? []),
      ...(spec.affinity?.nodeAffinity?.preferredDuringSchedulingIgnoredDuringExecution ?? []),
    ];
    if (preferred.length === 0) return undefined;
    return {
      score: ({ name, labels }) =>
        preferred.reduce(
          (total, { weight, preference }) =>
            total + (weight && matchesSelectorTerm(preference, { name, labels }) ? weight : 0),
          0,
        ),
      normalize: (scores) => normalizeByMax(scores, false),
    };
  },
});

/** Returns the nodes named by required terms; undefined if some term names none. */
function namedNodes({ affinity }: SeenPod["spec"]): ReadonlySet<string> | undefined {
  const terms = affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution?.nodeSelectorTerms;
  if (!terms?.length) return undefined;
  const names = new Set<string>();
  for (const { matchFields } of terms) {
    const named = (matchFields ?? []).filter(
      ({ key, operator }) => key === "metadata.name" && operator === "In",
    );
    if (named.length === 0) return undefined;
    const [first, ...others] = named.map(({ values }) => new Set(values ?? []));
    for (const name of first!) if (others.every((each) => each.has(name))) names.add(name);
  }
  return names;
}

export const nodePorts: Plugin = {
  name: "NodePorts",
  requeueEvents: ["node added", "pod deleted"],
  view: (pod) => {
    const wanted = resourcesOf(pod).hostPorts;
    if (wanted.length === 0) return {};
    return {
      filter: ({ hostPorts }) => {
        const taken = [...hostPorts.values()];
        return wanted.some((port) => taken.some((other) => collide(port, other)))
          ? rejection("NodePorts", "node(s) didn't have free ports for the requested pod ports", false)
          : undefined;
      },
    };
  },
};

const mebibyte = 1024 * 1024;
const smallImage = 23 * mebibyte;
const largeImage = 1000 * mebibyte;

export const imageLocality: Plugin = {
  name: "ImageLocality",
  weight: 1,
  requeueEvents: [],
  scorer: ({ spec }, { nodes }) => {
    const wanted = (spec.containers ?? []).map(({ image }) => normalized(image ?? ""));
    /** Number of nodes that have each wanted image. */
    const spread = new Map<string, number>();
    for (const { node } of nodes.values())
      for (const { names } of node.status.images ?? [])
        for (const name of new Set(names))
          if (wanted.includes(name)) spread.set(name, (spread.get(name) ?? 0) + 1);
    if (spread.size === 0) return undefined;
    return {
      score: ({ node }) => {
        let sum = 0;
        for (const image of wanted) {
          const found = (node.status.images ?? []).find(({ names }) => names?.includes(image));
          if (found) sum += Math.trunc(((found.sizeBytes ?? 0) * (spread.get(image) ?? 0)) / nodes.size);
        }
        const most = largeImage * Math.max(1, wanted.length);
        const clamped = Math.min(most, Math.max(smallImage, sum));
        return Math.trunc((maxScore * (clamped - smallImage)) / (most - smallImage));
      },
    };
  },
};

/** Appends the default tag `latest` to an image without a tag. */
const normalized = (image: string): string =>
  image.lastIndexOf(":") <= image.lastIndexOf("/") ? `${image}:latest` : image;
