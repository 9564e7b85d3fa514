// One-time links to the web page: a code in the URL's fragment, which browsers do not send, and its hash in a
// file that the API server reads.
import { createHash, randomBytes } from "node:crypto";
import { mastersGroup } from "#authn";
import { writePrivate } from "#base";
import type { ClusterPaths } from "./paths.ts";

/** Default validity of a link. */
export const linkMilliseconds = 10 * 60_000;

/** Creates a link for the cluster's administrator, replacing the previous one. */
export function makeUiLink(
  { uiLogin }: Pick<ClusterPaths, "uiLogin">,
  server: string,
  { now, milliseconds = linkMilliseconds }: { readonly now: number; readonly milliseconds?: number },
): string {
  const code = randomBytes(32).toString("base64url");
  const codeHash = createHash("sha256").update(code).digest("hex");
  const record = { codeHash, expires: now + milliseconds, user: "admin", groups: [mastersGroup] };
  writePrivate(uiLogin, `${JSON.stringify(record)}\n`);
  return `${server}/ui/#code=${code}`;
}
