// The whole page: the session, the view in the address, and the component that shows it.
import { useCallback, useEffect, useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
import { client } from "../api/client.ts";
import { Overview } from "../overview/overview.tsx";
import { parseQuery } from "../search/parse.ts";
import { titleOf } from "../search/title.ts";
import { visibleLine } from "../text/visible.ts";
import { TimelinePage } from "../timeline/timeline-page.tsx";
import { type View, formatRoute, parseRoute } from "../view/route.ts";
import { Bar } from "./bar.tsx";
import { type Shell, ShellContext } from "./context.ts";
import { type Session, type SignIn, accountOf } from "./session.ts";
import { SignInPage } from "./sign-in.tsx";
import { Loading } from "./states.tsx";
import { type Theme, followTheme } from "./theme.ts";

export function App({ session, timeline }: { session: Session; timeline: string }) {
  const [who, setWho] = useState<SignIn | undefined>(undefined);
  const [theme, setTheme] = useState<Theme>("light");
  useLayoutEffect(() => followTheme(setTheme), []);
  useLayoutEffect(() => void session.begin().then(setWho), [session]);
  if (!who) return <Loading what="the page" />;
  if (who.by === "nobody")
    return (
      <SignInPage problem={who.problem} onToken={async (token) => setWho(await session.withToken(token))} />
    );
  const leave = (problem?: string): void => {
    session.end();
    setWho({ by: "nobody", ...(problem !== undefined && { problem }) });
  };
  return (
    <SignedIn
      token={who.by === "token" ? who.token : undefined}
      timeline={timeline}
      theme={theme}
      setTheme={setTheme}
      leave={leave}
    />
  );
}

interface SignedInProps {
  readonly token: string | undefined;
  readonly timeline: string;
  readonly theme: Theme;
  readonly setTheme: (theme: Theme) => void;
  readonly leave: (problem?: string) => void;
}

function SignedIn({ token, timeline, theme, setTheme, leave }: SignedInProps) {
  const [view, go] = useView();
  const calls = useMemo(
    () =>
      client({
        token: () => token,
        onUnauthorized: () => leave("Your session has expired. Sign in again."),
      }),
    [token],
  );
  const ownNamespace = useMemo(
    () => (token === undefined ? undefined : accountOf(token)?.namespace),
    [token],
  );
  useEffect(() => {
    document.title = `${titleFor(view)} · orch`;
  }, [view]);
  const shell: Shell = {
    client: calls,
    timeline,
    view,
    go,
    now: Date.now,
    theme,
    signOut: () => leave(),
    ownNamespace,
  };
  return (
    <ShellContext.Provider value={shell}>
      <div class="shell">
        <Bar onTheme={setTheme} />
        <main>{view.page === "overview" ? <Overview /> : <TimelinePage />}</main>
      </div>
    </ShellContext.Provider>
  );
}

const titleFor = ({ page, search, selected }: View): string =>
  selected
    ? `${visibleLine(selected.kind)} ${visibleLine(selected.name)}`
    : page === "overview"
      ? "Overview"
      : visibleLine(titleOf(parseQuery(search)));

/** Returns the view in the URL, and a function that changes it. */
function useView(): [View, Shell["go"]] {
  const [view, setView] = useState(() => parseRoute(location.hash));
  const latest = useRef(view);
  const timer = useRef<ReturnType<typeof setTimeout> | undefined>(undefined);
  useEffect(() => {
    const read = (): void => {
      clearTimeout(timer.current);
      latest.current = parseRoute(location.hash);
      setView(latest.current);
    };
    addEventListener("popstate", read);
    return () => removeEventListener("popstate", read);
  }, []);
  const go = useCallback((change: Partial<View>, how: "push" | "replace" = "push") => {
    clearTimeout(timer.current);
    // The history must contain the latest view before the next one is added.
    if (how === "push") history.replaceState(null, "", formatRoute(latest.current));
    latest.current = { ...latest.current, ...change };
    setView(latest.current);
    const url = formatRoute(latest.current);
    if (how === "push") {
      if (url !== location.hash) history.pushState(null, "", url);
    } else timer.current = setTimeout(() => history.replaceState(null, "", url), urlDelayMilliseconds);
  }, []);
  return [view, go];
}

/**
 * Browsers limit the rate of URL changes: while the range moves, the URL is updated only after this delay.
 */
const urlDelayMilliseconds = 250;
