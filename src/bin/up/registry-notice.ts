// Prints one notice that no registry can be reached when an image pull fails for that reason.
import { kinds } from "#client";
import type { ClusterView } from "#controllerkit";
import { unreachableImages } from "./status-report.ts";

export function noticeUnreachableRegistry(
  view: Pick<ClusterView, "follow">,
  say: (line: string) => void,
): void {
  let said = false;
  view.follow(kinds.pods, ({ type, object }) => {
    if (said || type === "deleted") return;
    const [image] = unreachableImages([object]);
    if (image === undefined) return;
    said = true;
    say(
      `no registry can be reached from here: ${image} cannot be had, nor any other image that is not on the node already (orch status lists them)`,
    );
  });
}
