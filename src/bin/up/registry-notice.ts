// Prints one notice that no registry can be reached when an image pull fails for that reason.
import { kinds } from "#client";
import type { ClusterView } from "#controllerkit";
import { plain } from "../output.ts";
import { unreachableImages } from "./status-report.ts";

export function noticeUnreachableRegistry(
  view: Pick<ClusterView, "follow">,
  print: (line: string) => void,
): void {
  let isPrinted = false;
  view.follow(kinds.pods, ({ type, object }) => {
    if (isPrinted || type === "deleted") return;
    const [image] = unreachableImages([object]);
    if (image === undefined) return;
    isPrinted = true;
    print(
      `no registry can be reached: ${plain(image)} cannot be pulled, nor any other image that is not on the node already (orch status lists them)`,
    );
  });
}
