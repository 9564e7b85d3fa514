// The details of one object next to the timeline, in tabs.
import type { TimelineEntry } from "../api/wire.ts";
import { queryFor } from "../search/parse.ts";
import { useShell } from "../shell/context.ts";
import { visibleLine } from "../text/visible.ts";
import { type Selected, type Tab, selectedOf, tabs } from "../view/route.ts";
import { EntriesTab } from "./entries-tab.tsx";
import { LogsTab } from "./logs-tab.tsx";
import { TreeTab } from "./tree-tab.tsx";
import { YamlTab } from "./yaml-tab.tsx";

const titles: Readonly<Record<Tab, string>> = {
  events: "Events",
  tree: "Tree",
  changes: "Changes",
  logs: "Logs",
  yaml: "YAML",
};

export function Detail({ selected }: { selected: Selected }) {
  const { view, go } = useShell();
  const { kind, namespace, name } = selected;
  const shown = tabs.filter((tab) => tab !== "logs" || (kind === "Pod" && selected.group === ""));
  const tab = shown.includes(view.tab) ? view.tab : "events";
  const choose = (event: KeyboardEvent): void => {
    const step = event.key === "ArrowRight" ? 1 : event.key === "ArrowLeft" ? -1 : 0;
    if (step === 0) return;
    const next = shown[(shown.indexOf(tab) + step + shown.length) % shown.length]!;
    go({ tab: next }, "replace");
    document.getElementById(`tab-${next}`)?.focus();
  };
  const onObject = ({ object }: TimelineEntry): void => go({ selected: selectedOf(object), tab: "events" });
  return (
    <aside class="detail" aria-label={`${visibleLine(kind)} ${visibleLine(name)}`}>
      <header>
        <div class="title">
          <h2>{visibleLine(name)}</h2>
          <button
            class="button plain icon"
            aria-label="Close details"
            onClick={() => go({ selected: undefined })}
          >
            ✕
          </button>
        </div>
        <div class="crumbs">
          <span class="badge">{visibleLine(kind)}</span>
          {namespace !== "" && (
            <>
              in
              <button onClick={() => go({ search: `-n ${namespace}`, selected: undefined })}>
                {visibleLine(namespace)}
              </button>
            </>
          )}
          <span>·</span>
          <button onClick={() => go({ search: queryFor(selected) })}>
            only this object and what it owns
          </button>
        </div>
      </header>
      <div class="tabs" role="tablist" aria-label="Details" onKeyDown={choose}>
        {shown.map((each) => (
          <button
            id={`tab-${each}`}
            role="tab"
            aria-selected={each === tab}
            aria-controls="tab-body"
            tabIndex={each === tab ? 0 : -1}
            onClick={() => go({ tab: each }, "replace")}
          >
            {titles[each]}
          </button>
        ))}
      </div>
      <div class="tab-body" id="tab-body" role="tabpanel" aria-labelledby={`tab-${tab}`}>
        {tab === "events" && (
          <EntriesTab key="events" selected={selected} only="everything" onObject={onObject} />
        )}
        {tab === "changes" && (
          <EntriesTab key="changes" selected={selected} only="changes" onObject={onObject} />
        )}
        {tab === "tree" && <TreeTab selected={selected} />}
        {tab === "logs" && <LogsTab selected={selected} />}
        {tab === "yaml" && <YamlTab selected={selected} />}
      </div>
    </aside>
  );
}
