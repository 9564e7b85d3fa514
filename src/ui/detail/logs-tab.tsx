// The logs of a pod's containers, followed while the tab is open.
import { useEffect, useRef, useState } from "preact/hooks";
import { type CallError, isUnreachable } from "../api/client.ts";
import type { Pod } from "../api/wire.ts";
import { useShell } from "../shell/context.ts";
import { Empty, Failure, Loading } from "../shell/states.tsx";
import { useLoaded } from "../shell/use-loaded.ts";
import { visible } from "../text/visible.ts";
import type { Selected } from "../view/route.ts";
import { type LogBuffer, addLines, emptyLog } from "./log-buffer.ts";

const tailLines = 500;
const flushMilliseconds = 100;
/** Delay before reconnecting: networks fail, and a log may be followed for days. */
const retryMilliseconds = 2000;

export function LogsTab({ selected }: { selected: Selected }) {
  const { client } = useShell();
  const path = `/api/v1/namespaces/${encodeURIComponent(selected.namespace)}/pods/${encodeURIComponent(selected.name)}`;
  const pod = useLoaded((signal) => client.json<Pod>(path, {}, signal), [client, path]);
  const [container, setContainer] = useState<string | undefined>(undefined);
  const [previous, setPrevious] = useState(false);
  if (pod.is === "loading") return <Loading what="the pod" />;
  if (pod.is === "failed") return <Failure error={pod.error} what="The pod" />;
  const { containers, initContainers = [] } = pod.value.spec;
  const names = [...containers, ...initContainers].map(({ name }) => name);
  const chosen = container ?? names[0] ?? "";
  return (
    <>
      <div class="sub-bar">
        <label>
          Container{" "}
          <select value={chosen} onChange={(event) => setContainer(event.currentTarget.value)}>
            {names.map((name) => (
              <option value={name}>{visible(name)}</option>
            ))}
          </select>
        </label>
        <label>
          <input type="checkbox" checked={previous} onChange={() => setPrevious(!previous)} /> before its last
          restart
        </label>
      </div>
      <Log key={`${chosen}/${previous}`} path={`${path}/log`} container={chosen} previous={previous} />
    </>
  );
}

function Log({ path, container, previous }: { path: string; container: string; previous: boolean }) {
  const { client } = useShell();
  const [log, setLog] = useState<LogBuffer | undefined>(undefined);
  const [error, setError] = useState<CallError | undefined>(undefined);
  const end = useRef<HTMLDivElement>(null);
  useEffect(() => {
    const ending = new AbortController();
    let waiting: string[] = [];
    // After a reconnect the log is read again and replaces the previous lines once the first line arrives.
    let isReconnect = false;
    const flush = (): void => {
      const lines = waiting;
      waiting = [];
      if (lines.length === 0) return;
      const replaced = isReconnect;
      isReconnect = false;
      setError(undefined);
      setLog((before) => addLines(replaced ? emptyLog : (before ?? emptyLog), lines));
    };
    const timer = setInterval(flush, flushMilliseconds);
    const query = { container, tailLines, timestamps: true, ...(previous ? { previous } : { follow: true }) };
    const read = async (): Promise<void> => {
      try {
        for await (const line of client.lines(path, query, ending.signal)) waiting.push(line);
      } catch (failure) {
        if (ending.signal.aborted) return;
        setError(failure as CallError);
        if (isUnreachable(failure)) {
          again = setTimeout(() => void read(), retryMilliseconds);
          isReconnect = true;
          return;
        }
      }
      flush();
      setLog((before) => before ?? emptyLog);
    };
    let again: ReturnType<typeof setTimeout> | undefined;
    void read();
    return () => {
      ending.abort();
      clearInterval(timer);
      clearTimeout(again);
    };
  }, [client, path, container, previous]);
  useEffect(() => end.current?.scrollIntoView({ block: "end" }), [log]);
  if (error && !log?.lines.length) return <Failure error={error} what="The log" />;
  if (!log) return <Loading what="the log" />;
  if (log.lines.length === 0)
    return <Empty title="The log is empty">The container has written nothing, or has not started yet.</Empty>;
  return (
    <pre class="text-view" tabIndex={0} aria-label="Log">
      {log.dropped > 0 && `… ${log.dropped} earlier lines were dropped\n`}
      {visible(log.lines.join("\n"))}
      <div ref={end} />
    </pre>
  );
}
