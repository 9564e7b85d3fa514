// The top bar: navigation, search, time range, and a few switches.
import { useEffect, useRef, useState } from "preact/hooks";
import { takeSince } from "../search/parse.ts";
import { endsOf, presets } from "../view/range.ts";
import { formatRoute } from "../view/route.ts";
import { dayText, clockTime, formatSpan, parseSpan } from "../view/time.ts";
import { useShell } from "./context.ts";
import { Logo } from "./sign-in.tsx";
import { chooseTheme } from "./theme.ts";

export function Bar({ onTheme }: { onTheme: (theme: "light" | "dark") => void }) {
  const { view, theme, signOut } = useShell();
  const other = theme === "dark" ? "light" : "dark";
  return (
    <header class="bar">
      <a
        class="brand"
        href={formatRoute({ ...view, page: "overview", selected: undefined })}
        aria-label="Overview"
      >
        <Logo />
        <span>orch</span>
      </a>
      <nav aria-label="Pages">
        {(["overview", "timeline"] as const).map((page) => (
          <a
            class="button plain"
            href={formatRoute({ ...view, page, selected: undefined })}
            {...(view.page === page && { "aria-current": "page" })}
          >
            {page === "overview" ? "Overview" : "Timeline"}
          </a>
        ))}
      </nav>
      <Search />
      <div class="spacer" />
      {view.page === "timeline" && <Ranges />}
      <button
        class="button plain icon"
        aria-label={`Switch to ${other} theme`}
        title={`Switch to ${other} theme`}
        onClick={() => {
          chooseTheme(other);
          onTheme(other);
        }}
      >
        {theme === "dark" ? "☀" : "☾"}
      </button>
      <button class="button plain icon" aria-label="Sign out" title="Sign out" onClick={signOut}>
        <svg
          width="16"
          height="16"
          viewBox="0 0 16 16"
          fill="none"
          stroke="currentColor"
          stroke-width="1.5"
          aria-hidden="true"
        >
          <path d="M6.5 2.5h-4v11h4M6 8h8m-3-3 3 3-3 3" stroke-linecap="round" stroke-linejoin="round" />
        </svg>
      </button>
    </header>
  );
}

function Search() {
  const { view, go } = useShell();
  const [text, setText] = useState(view.search);
  const input = useRef<HTMLInputElement>(null);
  useEffect(() => setText(view.search), [view.search]);
  useEffect(() => {
    const focus = (event: KeyboardEvent): void => {
      const typing =
        event.target instanceof HTMLElement && /^(INPUT|TEXTAREA|SELECT)$/.test(event.target.tagName);
      if (event.key !== "/" || typing || event.ctrlKey || event.metaKey) return;
      event.preventDefault();
      input.current?.select();
    };
    addEventListener("keydown", focus);
    return () => removeEventListener("keydown", focus);
  }, []);
  return (
    <form
      class="search"
      role="search"
      onSubmit={(event) => {
        event.preventDefault();
        const { search, span } = takeSince(text.trim());
        go({ search, page: "timeline", selected: undefined, ...(span && { range: { live: true, span } }) });
        input.current?.blur();
      }}
    >
      <svg width="14" height="14" viewBox="0 0 14 14" aria-hidden="true">
        <circle cx="6" cy="6" r="4.5" fill="none" stroke="currentColor" stroke-width="1.5" />
        <path d="m9.5 9.5 3.5 3.5" stroke="currentColor" stroke-width="1.5" stroke-linecap="round" />
      </svg>
      <input
        ref={input}
        class="input"
        type="search"
        aria-label="Search: a resource, resource/name, -n namespace, type=Warning, reason=…"
        placeholder="deploy/web -n shop"
        autocomplete="off"
        spellcheck={false}
        value={text}
        onInput={(event) => setText(event.currentTarget.value)}
      />
      {text === "" && <kbd>/</kbd>}
    </form>
  );
}

function Ranges() {
  const { view, go, now } = useShell();
  const { range } = view;
  const span = range.live ? range.span : range.to - range.from;
  const { from, to } = endsOf(range, now());
  const isPreset = presets.some((preset) => parseSpan(preset) === span);
  return (
    <>
      <div class="ranges" role="group" aria-label="Time range">
        {presets.map((preset) => (
          <button
            class="button"
            aria-pressed={range.live && parseSpan(preset) === span}
            onClick={() => go({ range: { live: true, span: parseSpan(preset)! } })}
          >
            {preset}
          </button>
        ))}
        {!(range.live && isPreset) && (
          <button
            class="button"
            aria-pressed="true"
            title={`${dayText(from)} ${clockTime(from)} – ${clockTime(to)}`}
          >
            {range.live ? formatSpan(span) : `${dayText(from)} ${clockTime(from)} – ${clockTime(to)}`}
          </button>
        )}
      </div>
      <button
        class="button plain live"
        aria-pressed={range.live}
        title="Follow live events (L)"
        onClick={() => go({ range: range.live ? { live: false, from, to } : { live: true, span } })}
      >
        Live
      </button>
    </>
  );
}
