// The objects an object owns or owned, at all levels.
import type { LaneList } from "../api/wire.ts";
import { useShell } from "../shell/context.ts";
import { Mark } from "../shell/marks.tsx";
import { Empty, Failure, Loading } from "../shell/states.tsx";
import { useLoaded } from "../shell/use-loaded.ts";
import { visibleLine } from "../text/visible.ts";
import { rowsOf } from "../timeline/rows.ts";
import { shortKind } from "../timeline/short-kind.ts";
import { type Selected, selectedOf } from "../view/route.ts";
import { objectQuery } from "./object-query.ts";

const maxObjects = 2000;
const open: ReadonlySet<string> = new Set();

export function TreeTab({ selected }: { selected: Selected }) {
  const { client, timeline, go } = useShell();
  const { base, query } = objectQuery(timeline, selected);
  const loaded = useLoaded(
    (signal) => client.json<LaneList>(`${base}/lanes`, { ...query, tree: true, limit: maxObjects }, signal),
    [client, base, selected],
  );
  if (loaded.is === "loading") return <Loading what="the tree" />;
  if (loaded.is === "failed") return <Failure error={loaded.error} what="The tree" />;
  const { items, total } = loaded.value;
  const rows = rowsOf(items, open);
  if (rows.length === 0)
    return <Empty title="No owned objects">No object has an owner reference to this one.</Empty>;
  return (
    <ul class="tree" aria-label="Owned objects">
      {rows.map(({ id, object, depth, lane, warnings }) => (
        <li key={id}>
          <button
            style={{ paddingLeft: `${16 + depth * 18}px` }}
            onClick={() =>
              go({
                selected: selectedOf({ ...object, namespace: object.namespace ?? selected.namespace }),
                tab: "events",
              })
            }
          >
            <span class="badge">{visibleLine(shortKind(object.kind))}</span>
            <span class="name">{visibleLine(object.name)}</span>
            {lane?.alive === false && <span class="badge">deleted</span>}
            {warnings > 0 && (
              <span class="badge warning">
                <Mark kind="warning" />
                {warnings}
              </span>
            )}
          </button>
        </li>
      ))}
      {total > items.length && <li class="state">and {(total - items.length).toLocaleString("en")} more</li>}
    </ul>
  );
}
