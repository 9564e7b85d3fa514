// Serves the web page in front of the request filters: its files, and sign-in with one-time links. Other
// requests are passed on after a comparison of one character of their path.
import { fileURLToPath } from "node:url";
import { type Call, type Reply, header, plainReply } from "#http";
import type { OneTimeLogin } from "./one-time-login.ts";
import { type PageFiles, pagePrefix } from "./page-files.ts";
import type { SignInAttempt } from "./sign-in-audit.ts";

/**
 * Returns the directory of the built page, which is next to the bundled programs, also when run from source.
 */
export function builtPageFolder(from = import.meta.url): string {
  const isPacked = /\/pack\/[^/]+$/.test(from);
  return fileURLToPath(new URL(isPacked ? "./ui/" : "../../../dist/pack/ui/", from));
}

export interface UiOptions {
  readonly files: PageFiles;
  /** Absent if one-time links are not configured. */
  readonly login?: Pick<OneTimeLogin, "exchange"> | undefined;
  /** Called when a client opens the page, before sign-in. */
  readonly onOpen?: () => void;
  /** Called for every sign-in attempt before it is answered. */
  readonly onSignIn?: (call: Call, attempt: SignInAttempt) => Promise<void> | void;
}

type Handle = (call: Call) => Promise<Reply>;

const letterU = "u".charCodeAt(0);
const exactPath = pagePrefix.slice(0, -1);

export function withUi(handle: Handle, options: UiOptions): Handle {
  return (call) => {
    const { path } = call;
    if (path.charCodeAt(1) !== letterU || !(path === exactPath || path.startsWith(pagePrefix)))
      return handle(call);
    if (path === `${pagePrefix}login`) return signIn(call, options);
    if (path === pagePrefix) options.onOpen?.();
    return Promise.resolve(options.files.reply(call));
  };
}

const maxBodyBytes = 1024;

/**
 * Handles a sign-in. The code must be sent as JSON, which other origins cannot do without a CORS preflight.
 */
async function signIn(call: Call, { login, onSignIn }: UiOptions): Promise<Reply> {
  if (!login) return plainReply(404, "one-time links are not set up on this server");
  if (call.method !== "POST") return plainReply(405, "405 method not allowed");
  if (header(call.headers, "content-type") !== "application/json")
    return plainReply(415, "415 the body must be application/json");
  const origin = header(call.headers, "sec-fetch-site") ?? "same-origin";
  if (origin !== "same-origin") return plainReply(403, "403 other origins may not sign in here");
  const code = await call.body(maxBodyBytes).then(codeIn, () => undefined);
  const session = code === undefined ? undefined : login.exchange(code);
  await onSignIn?.(call, { user: session?.user, status: session ? 200 : 401 });
  if (!session) return plainReply(401, "401 this link was used before or is too old");
  return {
    status: 200,
    headers: {
      "content-type": "application/json",
      "cache-control": "no-store",
      "x-content-type-options": "nosniff",
    },
    body: Buffer.from(
      JSON.stringify({ token: session.token, expires: new Date(session.expires).toISOString() }),
    ),
  };
}

function codeIn(body: Uint8Array): string | undefined {
  try {
    const { code } = JSON.parse(Buffer.from(body).toString()) as { code?: unknown };
    return typeof code === "string" ? code : undefined;
  } catch {
    return undefined;
  }
}
