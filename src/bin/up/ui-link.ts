// The one-time link to the page: a code in the fragment of the URL, which browsers send to nobody, and its
// hash in a file that the API server reads.
import { createHash, randomBytes } from "node:crypto";
import { mastersGroup } from "#authn";
import { writePrivate } from "#base";
import type { ClusterPaths } from "./paths.ts";

/** How long a link can be opened, unless said otherwise. */
export const linkMilliseconds = 10 * 60_000;

/** Makes a link for the cluster's administrator; one made before ends. */
export function makeUiLink(
  { uiLogin }: Pick<ClusterPaths, "uiLogin">,
  server: string,
  { now, milliseconds = linkMilliseconds }: { readonly now: number; readonly milliseconds?: number },
): string {
  const code = randomBytes(32).toString("base64url");
  const codeHash = createHash("sha256").update(code).digest("hex");
  const note = { codeHash, expires: now + milliseconds, user: "admin", groups: [mastersGroup] };
  writePrivate(uiLogin, `${JSON.stringify(note)}\n`);
  return `${server}/ui/#code=${code}`;
}
