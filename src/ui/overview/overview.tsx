// The overview: current problems, the nodes, the namespaces.
import { parseQuery } from "../search/parse.ts";
import { useShell } from "../shell/context.ts";
import { Mark } from "../shell/marks.tsx";
import { Failure, Loading } from "../shell/states.tsx";
import { type Loaded, useLoaded } from "../shell/use-loaded.ts";
import { visibleLine } from "../text/visible.ts";
import { type NamespaceRow, type Part, loadNamespaces, loadNodes, loadProblems } from "./load.ts";
import { NodeTable } from "./node-table.tsx";
import { ProblemList } from "./problem-list.tsx";

const refreshMilliseconds = 10_000;

export function Overview() {
  const { client, timeline, view, now, ownNamespace } = useShell();
  const named = parseQuery(view.search).namespace;
  const everywhere = { client, timeline, namespace: named };
  // A user without access to the whole cluster sees the namespace of their token, if any.
  const problems = useLoaded(
    async (signal) => {
      try {
        return { namespace: named, ...(await loadProblems(everywhere, signal, now())) };
      } catch (error) {
        if (named !== "" || ownNamespace === undefined) throw error;
        const own = { ...everywhere, namespace: ownNamespace };
        return { namespace: ownNamespace, ...(await loadProblems(own, signal, now())) };
      }
    },
    [client, timeline, named, ownNamespace],
    refreshMilliseconds,
  );
  const nodes = useLoaded((signal) => loadNodes(everywhere, signal), [client], refreshMilliseconds);
  const namespaces = useLoaded(
    (signal) => loadNamespaces(everywhere, signal),
    [client, timeline],
    refreshMilliseconds,
  );
  const where = problems.is === "ready" ? problems.value.namespace : named;
  return (
    <div class="overview" tabIndex={-1}>
      <div class="inner">
        <section aria-labelledby="wrong">
          <div class="head">
            <h1 id="wrong">Current problems</h1>
            <span class="muted">{where === "" ? "in the whole cluster" : `in ${visibleLine(where)}`}</span>
          </div>
          <div class="card">
            <ProblemList problems={problems} />
          </div>
        </section>
        <div class="columns">
          <section aria-labelledby="nodes">
            <h2 id="nodes">Nodes</h2>
            <div class="card">
              <NodeTable nodes={nodes} />
            </div>
          </section>
          <section aria-labelledby="namespaces">
            <h2 id="namespaces">Namespaces</h2>
            <div class="card">
              <NamespaceTable namespaces={namespaces} />
            </div>
          </section>
        </div>
      </div>
    </div>
  );
}

function NamespaceTable({ namespaces }: { namespaces: Loaded<Part<NamespaceRow>> }) {
  const { go } = useShell();
  if (namespaces.is === "loading") return <Loading what="namespaces" />;
  if (namespaces.is === "failed") return <Failure error={namespaces.error} what="Namespaces" isPart />;
  const { items, isPart } = namespaces.value;
  return (
    <>
      <table class="grid-table">
        <thead>
          <tr>
            <th scope="col">Namespace</th>
            <th scope="col" class="number">
              Warnings in the last hour
            </th>
          </tr>
        </thead>
        <tbody>
          {items.map(({ name, phase, warnings }) => (
            <tr key={name}>
              <td>
                <button
                  class="link"
                  onClick={() => go({ page: "timeline", search: `-n ${name}`, selected: undefined })}
                >
                  {visibleLine(name)}
                </button>{" "}
                {phase !== "Active" && <span class="badge">{visibleLine(phase)}</span>}
              </td>
              <td class="number">
                {warnings > 0 ? (
                  <span class="badge warning">
                    <Mark kind="warning" />
                    {warnings.toLocaleString("en")}
                  </span>
                ) : (
                  <span class="muted">0</span>
                )}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
      {isPart && <p class="state">Only {items.length.toLocaleString("en")} namespaces are shown.</p>}
    </>
  );
}
