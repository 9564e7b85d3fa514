// The page in front of the request pipeline: its files and the sign-in by a one-time link. Everything else
// passes by after a look at one character of its path.
import { fileURLToPath } from "node:url";
import { type Call, type Reply, header, plainReply } from "#http";
import type { OneTimeLogin } from "./one-time-login.ts";
import { type PageFiles, pagePrefix } from "./page-files.ts";
import type { SignInAttempt } from "./sign-in-audit.ts";

/** Where the build puts the page: beside the packed programs, which is also where sources find it. */
export function builtPageFolder(from = import.meta.url): string {
  const isPacked = /\/pack\/[^/]+$/.test(from);
  return fileURLToPath(new URL(isPacked ? "./ui/" : "../../../dist/pack/ui/", from));
}

export interface UiOptions {
  readonly files: PageFiles;
  /** Absent when nobody set up one-time links. */
  readonly login?: Pick<OneTimeLogin, "exchange"> | undefined;
  /** Told when somebody opens the page, before they have signed in. */
  readonly onOpen?: () => void;
  /** Told of every attempt to sign in by a link, before it is answered. */
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

const mostBodyBytes = 1024;

/** Takes the code as JSON, which no other origin can send without being asked first. */
async function signIn(call: Call, { login, onSignIn }: UiOptions): Promise<Reply> {
  if (!login) return plainReply(404, "one-time links are not set up on this server");
  if (call.method !== "POST") return plainReply(405, "405 method not allowed");
  if (header(call.headers, "content-type") !== "application/json")
    return plainReply(415, "415 the body must be application/json");
  const origin = header(call.headers, "sec-fetch-site") ?? "same-origin";
  if (origin !== "same-origin") return plainReply(403, "403 other origins may not sign in here");
  const code = await call.body(mostBodyBytes).then(codeIn, () => undefined);
  const made = code === undefined ? undefined : login.exchange(code);
  await onSignIn?.(call, { user: made?.user, status: made ? 200 : 401 });
  if (!made) return plainReply(401, "401 this link was used before or is too old");
  return {
    status: 200,
    headers: {
      "content-type": "application/json",
      "cache-control": "no-store",
      "x-content-type-options": "nosniff",
    },
    body: Buffer.from(JSON.stringify({ token: made.token, expires: new Date(made.expires).toISOString() })),
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
