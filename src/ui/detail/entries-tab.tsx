// The entries of an object and optionally of everything it owns, newest first and paginated.
import { useEffect, useRef, useState } from "preact/hooks";
import type { CallError } from "../api/client.ts";
import type { Timeline, TimelineEntry } from "../api/wire.ts";
import { useShell } from "../shell/context.ts";
import { Empty, Failure, Loading } from "../shell/states.tsx";
import type { Selected } from "../view/route.ts";
import { Entry } from "./entry.tsx";
import { onceEach } from "./series.ts";
import { objectQuery } from "./object-query.ts";

interface EntriesTabProps {
  readonly selected: Selected;
  readonly only: "everything" | "changes";
  readonly onObject: (entry: TimelineEntry) => void;
}

const pageSize = 100;
const refreshMilliseconds = 5000;
const changeTypes = ["Created", "Changed", "Deleted"];

interface Loaded {
  readonly items: readonly TimelineEntry[];
  readonly next: string | undefined;
}

export function EntriesTab({ selected, only, onObject }: EntriesTabProps) {
  const { client, timeline } = useShell();
  const [tree, setTree] = useState(only === "everything");
  const [warnings, setWarnings] = useState(false);
  const [text, setText] = useState("");
  const [loaded, setLoaded] = useState<Loaded | undefined>(undefined);
  const [error, setError] = useState<CallError | undefined>(undefined);
  const { base, query } = objectQuery(timeline, selected);
  const type = only === "changes" ? changeTypes : warnings ? ["Warning"] : undefined;
  const page = async (signal: AbortSignal, token?: string): Promise<Loaded> => {
    const list = await client.json<Timeline>(
      `${base}/timelines`,
      { ...query, type, text, tree: tree || undefined, order: "newest", limit: pageSize, continue: token },
      signal,
    );
    return { items: list.items, next: list.metadata.continue };
  };
  useEffect(() => {
    const ending = new AbortController();
    setLoaded(undefined);
    let timer: ReturnType<typeof setTimeout> | undefined;
    const load = async (): Promise<void> => {
      try {
        const first = await page(ending.signal);
        // A refresh must not discard pages the user has loaded.
        setLoaded((before) => (before && before.items.length > pageSize ? before : first));
        setError(undefined);
      } catch (failure) {
        if (!ending.signal.aborted) setError(failure as CallError);
      }
      if (!ending.signal.aborted) timer = setTimeout(() => void load(), refreshMilliseconds);
    };
    void load();
    return () => {
      ending.abort();
      clearTimeout(timer);
    };
  }, [client, base, selected, tree, warnings, text, only]);
  const more = (): void => {
    void page(new AbortController().signal, loaded?.next).then(
      ({ items, next }) => setLoaded((before) => ({ items: [...(before?.items ?? []), ...items], next })),
      setError,
    );
  };
  return (
    <>
      <div class="sub-bar">
        <label>
          <input type="checkbox" checked={tree} onChange={() => setTree(!tree)} /> include owned objects
        </label>
        {only === "everything" && (
          <label>
            <input type="checkbox" checked={warnings} onChange={() => setWarnings(!warnings)} /> warnings only
          </label>
        )}
        <FindText onText={setText} />
      </div>
      {error && !loaded ? (
        <Failure error={error} what="The events" />
      ) : !loaded ? (
        <Loading what="events" />
      ) : loaded.items.length === 0 ? (
        <Empty title={only === "changes" ? "No changes recorded" : "No events"}>
          {only === "changes"
            ? "Changes are recorded since the server started, for kinds that you are allowed to get."
            : text !== "" || warnings
              ? "No events match."
              : "No events were reported, or they have expired."}
        </Empty>
      ) : (
        <ul class="entries">
          {onceEach(loaded.items).map((entry) => (
            <Entry
              key={entry.id}
              entry={entry}
              withDiff={only === "changes"}
              onObject={tree ? onObject : undefined}
            />
          ))}
        </ul>
      )}
      {loaded?.next !== undefined && (
        <div class="sub-bar">
          <button class="button" onClick={more}>
            Show older entries
          </button>
        </div>
      )}
    </>
  );
}

/** Delay after the last keystroke before a search is sent to the server. */
const debounceMilliseconds = 250;

function FindText({ onText }: { onText: (text: string) => void }) {
  const timer = useRef<ReturnType<typeof setTimeout> | undefined>(undefined);
  useEffect(() => () => clearTimeout(timer.current), []);
  return (
    <input
      class="input find"
      type="search"
      aria-label="Find in reasons, notes and names"
      placeholder="Find"
      autocomplete="off"
      onInput={({ currentTarget: { value } }) => {
        clearTimeout(timer.current);
        timer.current = setTimeout(() => onText(value.trim()), debounceMilliseconds);
      }}
    />
  );
}
