// The light or dark theme: the system's setting, unless the user has chosen one.

export type Theme = "light" | "dark";

const key = "orch.theme";
const query = "(prefers-color-scheme: dark)";

const chosen = (): Theme | undefined => {
  const kept = localStorage.getItem(key);
  return kept === "light" || kept === "dark" ? kept : undefined;
};
const current = (): Theme => chosen() ?? (matchMedia(query).matches ? "dark" : "light");

/** Applies the theme now and whenever the system's setting changes, and calls `changed` each time. */
export function followTheme(changed: (theme: Theme) => void): () => void {
  const show = (): void => {
    document.documentElement.dataset["theme"] = current();
    changed(current());
  };
  const media = matchMedia(query);
  media.addEventListener("change", show);
  show();
  return () => media.removeEventListener("change", show);
}

export function chooseTheme(theme: Theme): void {
  localStorage.setItem(key, theme);
  document.documentElement.dataset["theme"] = theme;
}
