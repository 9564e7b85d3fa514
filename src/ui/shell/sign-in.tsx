// The sign-in page.
import { useState } from "preact/hooks";

interface SignInProps {
  readonly problem: string | undefined;
  readonly onToken: (token: string) => Promise<void>;
}

export function SignInPage({ problem, onToken }: SignInProps) {
  const [token, setToken] = useState("");
  const [busy, setBusy] = useState(false);
  const submit = async (event: Event): Promise<void> => {
    event.preventDefault();
    setBusy(true);
    await onToken(token);
    setBusy(false);
  };
  return (
    <main class="sign-in">
      <form class="card" onSubmit={(event) => void submit(event)}>
        <div class="brand">
          <Logo />
          orch
        </div>
        <h1>Sign in</h1>
        <label>
          Token
          <textarea
            class="input"
            value={token}
            autocomplete="off"
            spellcheck={false}
            placeholder="Paste a bearer token"
            onInput={(event) => setToken(event.currentTarget.value)}
            onKeyDown={(event) => {
              if (event.key === "Enter" && !event.shiftKey) event.currentTarget.form?.requestSubmit();
              if (event.key === "Enter") event.preventDefault();
            }}
          />
        </label>
        {problem !== undefined && (
          <p class="error" role="alert">
            {problem}
          </p>
        )}
        <button class="button primary" type="submit" disabled={busy || token === ""}>
          {busy ? "Signing in…" : "Sign in"}
        </button>
        <p class="muted">The token is kept for this tab only. You see what its user is allowed to see.</p>
        <div class="other">
          <p>
            On your own cluster, <code>orch ui</code> prints a sign-in link.
          </p>
          <p>With a client certificate in your browser, reload this page and select it.</p>
        </div>
      </form>
    </main>
  );
}

export const Logo = () => (
  <svg width="22" height="22" viewBox="0 0 32 32" aria-hidden="true">
    <rect width="32" height="32" rx="8" fill="#1f2a37" />
    <path d="M6 11h9M6 16h20M6 21h13" stroke="#7fb2ff" stroke-width="2.5" stroke-linecap="round" />
    <path d="M22 6.5l4.2 7.2h-8.4z" fill="#f28e2b" />
    <circle cx="23" cy="21" r="2.6" fill="none" stroke="#7fd1b9" stroke-width="2.2" />
  </svg>
);
