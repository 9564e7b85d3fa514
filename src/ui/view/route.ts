// Encodes the view in the fragment of the URL, so that links show the same view and the back button works.
import { type Range, fixed } from "./range.ts";
import { formatSpan, hour, parseSpan } from "./time.ts";

export const tabs = ["events", "tree", "changes", "logs", "yaml"] as const;
export type Tab = (typeof tabs)[number];

/** The object whose details are open. */
export interface Selected {
  /** Empty for the core group. */
  readonly group: string;
  readonly kind: string;
  /** Empty for cluster-scoped objects. */
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
}

/** Converts an object of the timeline API. */
export const selectedOf = (object: {
  readonly group?: string;
  readonly kind: string;
  readonly namespace?: string;
  readonly name: string;
  readonly uid?: string;
}): Selected => {
  const { group = "", kind, namespace = "", name, uid = "" } = object;
  return { group, kind, namespace, name, uid };
};

export interface View {
  readonly page: "overview" | "timeline";
  /** The words of the search box. */
  readonly search: string;
  readonly range: Range;
  readonly selected: Selected | undefined;
  readonly tab: Tab;
}

export const firstView: View = {
  page: "overview",
  search: "",
  range: { live: true, span: hour },
  selected: undefined,
  tab: "events",
};

export function formatRoute({ page, search, range, selected, tab }: View): string {
  const query = new URLSearchParams();
  if (search !== "") query.set("q", search);
  if (range.live) {
    if (range.span !== hour) query.set("last", formatSpan(range.span));
  } else {
    query.set("since", new Date(range.from).toISOString());
    query.set("until", new Date(range.to).toISOString());
  }
  if (selected) {
    const { group, kind, namespace, name, uid } = selected;
    query.set("object", [group, kind, namespace, name, uid].map(encodeURIComponent).join("/"));
    if (tab !== "events") query.set("tab", tab);
  }
  const text = query.toString();
  return `#/${page}${text === "" ? "" : `?${text}`}`;
}

/** Parses the fragment. Invalid parts get their default, since links are typed and truncated by users. */
export function parseRoute(hash: string): View {
  const [path = "", search = ""] = hash.replace(/^#\/?/, "").split(/\?(.*)/s);
  const query = new URLSearchParams(search);
  const selected = parseSelected(query.get("object"));
  return {
    page: path === "timeline" ? "timeline" : "overview",
    search: query.get("q") ?? "",
    range: parseRange(query),
    selected,
    tab: tabs.find((tab) => selected && tab === query.get("tab")) ?? "events",
  };
}

function parseRange(query: URLSearchParams): Range {
  const [from, to] = [Date.parse(query.get("since") ?? ""), Date.parse(query.get("until") ?? "")];
  if (!Number.isNaN(from) && !Number.isNaN(to)) return fixed(from, to);
  const span = parseSpan(query.get("last") ?? "");
  return span ? { live: true, span } : firstView.range;
}

function parseSelected(text: string | null): Selected | undefined {
  const parts = text?.split("/");
  if (parts?.length !== 5) return undefined;
  try {
    const [group, kind, namespace, name, uid] = parts.map(decodeURIComponent) as [
      string,
      string,
      string,
      string,
      string,
    ];
    return kind === "" || name === "" ? undefined : { group, kind, namespace, name, uid };
  } catch {
    return undefined;
  }
}
