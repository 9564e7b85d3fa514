// The text of `orch status`: pure functions of the collected data.
import type { kinds } from "#client";
import type { Seen } from "#controllerkit";
import { plain } from "../output.ts";

export type SeenNode = Seen<typeof kinds.nodes.schema>;
export type SeenPod = Seen<typeof kinds.pods.schema>;

export interface ClusterReport {
  readonly folder: string;
  readonly version: string;
  readonly processes: readonly { readonly name: string; readonly pid: number; readonly kilobytes: number }[];
  readonly storeBytes: number;
  readonly nodes: readonly SeenNode[];
  readonly pods: readonly SeenPod[];
  readonly warnings: readonly string[];
}

const megabytes = (bytes: number): string => `${(bytes / 2 ** 20).toFixed(1)} MB`;

export function reportText({
  folder,
  version,
  processes,
  storeBytes,
  nodes,
  pods,
  warnings,
}: ClusterReport): string {
  const total = processes.reduce((sum, { kilobytes }) => sum + kilobytes, 0) * 1024;
  const phases = countBy(pods.map(({ status }) => status?.phase ?? "Unknown"));
  return [
    `cluster     ${folder}, ${version}, ${megabytes(total)} of memory, ${megabytes(storeBytes)} of objects`,
    ...processes.map(
      ({ name, pid, kilobytes }) => `  ${name.padEnd(24)} process ${pid}, ${megabytes(kilobytes * 1024)}`,
    ),
    `nodes       ${nodes.length}`,
    ...nodes.map(
      (node) =>
        `  ${(node.metadata.name ?? "").padEnd(24)} ${isReady(node) ? "ready" : "not ready"}, ${node.status?.nodeInfo?.containerRuntimeVersion ?? ""}`,
    ),
    `pods        ${pods.length}${pods.length > 0 ? `: ${phases}` : ""}`,
    ...(warnings.length > 0 ? ["warnings", ...warnings.map((each) => `  ${each}`)] : ["no problems found"]),
    "",
  ]
    .map(plain)
    .join("\n");
}

const countBy = (words: readonly string[]): string =>
  [...new Set(words)]
    .toSorted()
    .map((word) => `${words.filter((each) => each === word).length} ${word}`)
    .join(", ");

const isReady = ({ status }: SeenNode): boolean =>
  (status?.conditions ?? []).some((each) => each.type === "Ready" && each.status === "True");

/** Runtime errors that indicate an unreachable registry, whatever the image. */
const unreachable =
  /no such host|i\/o timeout|connection refused|network is unreachable|server misbehaving|deadline exceeded/;
const maxListed = 10;

type SeenContainer = NonNullable<NonNullable<SeenPod["status"]>["containerStatuses"]>[number];

function isUnreachable({ state }: SeenContainer): boolean {
  const { reason = "", message = "" } = state?.waiting ?? {};
  return /Image/.test(reason) && unreachable.test(message);
}

/** Returns the images that cannot be pulled because their registry is unreachable, each once. */
export const unreachableImages = (pods: readonly Pick<SeenPod, "status">[]): string[] => [
  ...new Set(
    pods
      .flatMap(({ status }) => [
        ...(status?.initContainerStatuses ?? []),
        ...(status?.containerStatuses ?? []),
      ])
      .filter(isUnreachable)
      .map(({ image }) => image ?? ""),
  ),
];

export function warningsOf(nodes: readonly SeenNode[], pods: readonly SeenPod[]): string[] {
  const found: string[] = [];
  for (const node of nodes) {
    const name = node.metadata.name ?? "";
    if (!isReady(node)) found.push(`node ${name} is not ready`);
    for (const { type, status, message } of node.status?.conditions ?? [])
      if (type !== "Ready" && status === "True") found.push(`node ${name}: ${type}: ${message ?? ""}`);
  }
  for (const { metadata, status } of pods) {
    const name = `pod ${metadata.namespace}/${metadata.name}`;
    const unscheduled = (status?.conditions ?? []).find(
      (each) => each.type === "PodScheduled" && each.status === "False",
    );
    if (unscheduled) found.push(`${name} has no node: ${unscheduled.message ?? ""}`);
    for (const container of status?.containerStatuses ?? []) {
      const { reason = "", message = "" } = container.state?.waiting ?? {};
      if (/Err|BackOff|Invalid/.test(reason) && !isUnreachable(container))
        found.push(`${name}: ${reason}: ${message}`);
    }
  }
  const images = unreachableImages(pods);
  const rest = found.length - maxListed;
  return [
    ...(images.length > 0
      ? [
          `no registry can be reached, so ${images.length} images cannot be pulled: ${images.slice(0, maxListed).join(", ")}`,
        ]
      : []),
    ...found.slice(0, maxListed),
    ...(rest > 0 ? [`and ${rest} more`] : []),
  ];
}
