// The table of nodes with their conditions and resource usage.
import type { Node, NodeUse } from "../api/wire.ts";
import { useShell } from "../shell/context.ts";
import { Mark } from "../shell/marks.tsx";
import { Empty, Failure, Loading } from "../shell/states.tsx";
import type { Loaded } from "../shell/use-loaded.ts";
import { visibleLine } from "../text/visible.ts";
import type { Nodes } from "./load.ts";
import { nodeProblems } from "./problems.ts";
import { bytesText, coresText, quantity } from "./quantity.ts";

export function NodeTable({ nodes }: { nodes: Loaded<Nodes> }) {
  if (nodes.is === "loading") return <Loading what="nodes" />;
  if (nodes.is === "failed") return <Failure error={nodes.error} what="Nodes" isPart />;
  if (nodes.value.nodes.length === 0)
    return <Empty title="No nodes">Use orch join to add a machine, or orch up to run a node here.</Empty>;
  return (
    <div class="scroll-x">
      <table class="grid-table">
        <thead>
          <tr>
            <th scope="col">Node</th>
            <th scope="col">Conditions</th>
            <th scope="col">CPU</th>
            <th scope="col">Memory</th>
          </tr>
        </thead>
        <tbody>
          {nodes.value.nodes.map((node) => (
            <NodeRow key={node.metadata.uid} node={node} use={nodes.value.use.get(node.metadata.name)} />
          ))}
        </tbody>
      </table>
      {nodes.value.isPart && (
        <p class="state">Only the first {nodes.value.nodes.length.toLocaleString("en")} nodes are shown.</p>
      )}
    </div>
  );
}

function NodeRow({ node, use }: { node: Node; use: NodeUse | undefined }) {
  const { go } = useShell();
  const problems = nodeProblems(node);
  const { name, uid } = node.metadata;
  const open = (): void =>
    go({
      page: "timeline",
      search: `node/${name}`,
      selected: { group: "", kind: "Node", namespace: "", name, uid },
      tab: "events",
    });
  return (
    <tr>
      <td>
        <button class="link" onClick={open}>
          {visibleLine(name)}
        </button>
      </td>
      <td>
        {problems.length === 0 ? (
          <span class="badge change">
            <Mark kind="good" /> Ready
          </span>
        ) : (
          problems.map(({ what }) => (
            <span class="badge warning">
              <Mark kind="warning" /> {visibleLine(what)}
            </span>
          ))
        )}
        {node.spec.unschedulable && <span class="badge">unschedulable</span>}
      </td>
      <td>
        <Meter
          used={quantity(use?.usage["cpu"])}
          of={quantity(node.status.allocatable?.["cpu"])}
          text={coresText}
        />
      </td>
      <td>
        <Meter
          used={quantity(use?.usage["memory"])}
          of={quantity(node.status.allocatable?.["memory"])}
          text={bytesText}
        />
      </td>
    </tr>
  );
}

function Meter({ used, of, text }: { used: number; of: number; text: (value: number) => string }) {
  if (Number.isNaN(of)) return <span class="muted">unknown</span>;
  if (Number.isNaN(used)) return <span class="muted">{text(of)} in all</span>;
  const share = Math.min(1, used / of);
  return (
    <span class="meter">
      <svg width="72" height="8" role="img" aria-label={`${Math.round(share * 100)} percent used`}>
        <rect width="72" height="8" rx="4" fill="var(--surface-2)" />
        <rect width={72 * share} height="8" rx="4" fill={share > 0.9 ? "var(--warning)" : "var(--normal)"} />
      </svg>
      <span>
        {text(used)} <span class="muted">/ {text(of)}</span>
      </span>
    </span>
  );
}
