// The context shared by all components: the API client, the view, and the time.
import { createContext } from "preact";
import { useContext } from "preact/hooks";
import type { Client } from "../api/client.ts";
import type { View } from "../view/route.ts";
import type { Theme } from "./theme.ts";

export interface Shell {
  readonly client: Client;
  /** The path of the timeline group. */
  readonly timeline: string;
  readonly view: View;
  /** Changes the view and its URL. */
  readonly go: (change: Partial<View>, how?: "push" | "replace") => void;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
  readonly theme: Theme;
  readonly signOut: () => void;
  /** The namespace of the service account the token belongs to. */
  readonly ownNamespace: string | undefined;
}

export const ShellContext = createContext<Shell | undefined>(undefined);

export function useShell(): Shell {
  const shell = useContext(ShellContext);
  if (!shell) throw new Error("used outside of the shell");
  return shell;
}
