// The tooltip that describes a mark.
import { fullTime, roughSpan } from "../view/time.ts";
import type { Cluster } from "./clusters.ts";
import type { Row } from "./rows.ts";
import { visibleLine } from "../text/visible.ts";

export interface Tip {
  readonly row: Row;
  readonly cluster: Cluster;
  readonly x: number;
  readonly y: number;
}

const counted = (count: number, one: string, many: string): string | false =>
  count > 0 && `${count} ${count === 1 ? one : many}`;

export function MarkTip({ row, cluster, x, y }: Tip) {
  const parts = [
    counted(cluster.warnings, "warning", "warnings"),
    counted(cluster.normal, "normal event", "normal events"),
    counted(cluster.changes, "change", "changes"),
  ].filter((part) => part !== false);
  const isRight = x > innerWidth - 340;
  return (
    <div
      class="tip"
      role="tooltip"
      style={{
        top: `${y + 14}px`,
        ...(isRight ? { right: `${innerWidth - x + 12}px` } : { left: `${x + 12}px` }),
      }}
    >
      <b>{visibleLine(row.object.name)}</b>
      <div>{parts.join(", ")}</div>
      <div>
        {fullTime(cluster.from)} + {roughSpan(cluster.to - cluster.from)}
      </div>
    </div>
  );
}
