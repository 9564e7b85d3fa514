// The name of a lane: kind, name, namespace, and the number of warnings.
import { Mark } from "../shell/marks.tsx";
import { visibleLine } from "../text/visible.ts";
import { shortKind } from "./short-kind.ts";
import type { Row } from "./rows.ts";

interface LaneNameProps {
  readonly row: Row;
  readonly at: number;
  readonly top: number;
  readonly isActive: boolean;
  readonly isSelected: boolean;
  readonly onFold: (id: string) => void;
  readonly onSelect: (row: Row) => void;
}

export function LaneName({ row, at, top, isActive, isSelected, onFold, onSelect }: LaneNameProps) {
  const { object, depth, children, isOpen, warnings, total } = row;
  const name = visibleLine(object.name);
  const isGone = row.lane?.alive === false;
  const label = [
    `${visibleLine(object.kind)} ${name}`,
    object.namespace && `in ${visibleLine(object.namespace)}`,
    isGone && "deleted",
    `${total} events and changes`,
    warnings > 0 && `${warnings} warnings`,
  ];
  return (
    <div
      id={`lane-${at}`}
      role="treeitem"
      aria-level={depth + 1}
      aria-selected={isSelected}
      {...(children > 0 && { "aria-expanded": isOpen })}
      aria-label={label.filter((part) => part).join(", ")}
      class={`lane-name${isActive ? " active" : ""}${isGone ? " gone" : ""}`}
      style={{ top: `${top}px`, "--depth": Math.min(depth, 6) }}
      title={`${visibleLine(object.kind)} ${name}`}
      onClick={() => onSelect(row)}
    >
      <button
        class="fold"
        tabIndex={-1}
        aria-hidden="true"
        onClick={(event) => {
          event.stopPropagation();
          if (children > 0) onFold(row.id);
        }}
      >
        {children === 0 ? "" : isOpen ? "▾" : "▸"}
      </button>
      <span class="kind">{visibleLine(shortKind(object.kind))}</span>
      <span class="name">{name}</span>
      {depth === 0 && object.namespace && <span class="where">{visibleLine(object.namespace)}</span>}
      {warnings > 0 && (
        <span class="badge warning">
          <Mark kind="warning" />
          {warnings}
        </span>
      )}
    </div>
  );
}
