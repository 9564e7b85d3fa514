// Light or dark: as the system says, until somebody chooses.

export type Theme = "light" | "dark";

const key = "orch.theme";
const query = "(prefers-color-scheme: dark)";

const chosen = (): Theme | undefined => {
  const kept = localStorage.getItem(key);
  return kept === "light" || kept === "dark" ? kept : undefined;
};
const current = (): Theme => chosen() ?? (matchMedia(query).matches ? "dark" : "light");

/** Shows the theme now and whenever the system's changes; `changed` is told each time. */
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
