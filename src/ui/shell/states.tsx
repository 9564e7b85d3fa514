// Placeholders for empty, loading and failed content, with advice.
import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import type { CallError } from "../api/client.ts";
import { inNamespace, parseQuery } from "../search/parse.ts";
import { visible } from "../text/visible.ts";
import { useShell } from "./context.ts";

export const Loading = ({ what }: { what: string }) => (
  <div class="state" role="status">
    <div class="pulse" />
    <span>Loading {what}…</span>
  </div>
);

export const Empty = ({ title, children }: { title: string; children: ComponentChildren }) => (
  <div class="state">
    <h2>{title}</h2>
    <p>{children}</p>
  </div>
);

interface FailureProps {
  readonly error: CallError;
  /** The subject, beginning with a capital: "The timeline". */
  readonly what: string;
  /** Whether other parts of the page are still shown. */
  readonly isPart?: boolean;
}

export function Failure({ error, what, isPart = false }: FailureProps) {
  if (error.status === 403) return <NoRights error={error} what={what} isPart={isPart} />;
  const advice =
    error.status === 0
      ? "Check that the server is running and reachable from this machine. The page retries automatically."
      : error.status === 404
        ? "It may have been deleted. Its events remain available until they expire."
        : "See the server's log for details.";
  return (
    <div class="state" role="alert">
      <h2>{what} could not be loaded</h2>
      <p>{visible(error.message)}</p>
      <p class="muted">{advice}</p>
    </div>
  );
}

/** Shown for 403. Users often have permissions in one namespace only, which can be entered here. */
function NoRights({ error, what, isPart }: Required<FailureProps>) {
  const { view, go, ownNamespace } = useShell();
  const [namespace, setNamespace] = useState(ownNamespace ?? "");
  const here = parseQuery(view.search).namespace;
  const submit = (event: Event): void => {
    event.preventDefault();
    if (namespace !== "") go({ search: inNamespace(view.search, namespace), page: "timeline" });
  };
  return (
    <div class="state" role="alert">
      <h2>You are not allowed to see {what.charAt(0).toLowerCase() + what.slice(1)}</h2>
      <p>{visible(error.message)}</p>
      {isPart ? (
        <p class="muted">It is shown to users with a role that allows listing it.</p>
      ) : here === "" ? (
        <>
          <p class="muted">If you have access to a single namespace, enter it:</p>
          <form onSubmit={submit}>
            <input
              class="input"
              aria-label="Namespace"
              placeholder="namespace"
              value={namespace}
              onInput={(event) => setNamespace(event.currentTarget.value)}
            />
            <button class="button primary" type="submit">
              Open namespace
            </button>
          </form>
        </>
      ) : (
        <p class="muted">
          Ask an administrator for a role that allows listing it, or choose another namespace.
        </p>
      )}
    </div>
  );
}
