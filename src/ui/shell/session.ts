// The session of the user: a token that was pasted or obtained for a one-time code, stored for this tab only,
// or a client certificate, which the browser sends by itself.

export type SignIn =
  | { readonly by: "nobody"; readonly problem?: string }
  | { readonly by: "certificate" }
  | { readonly by: "token"; readonly token: string };

export interface SessionOptions {
  readonly storage: Pick<Storage, "getItem" | "setItem" | "removeItem">;
  readonly fetch: (path: string, init: RequestInit) => Promise<Pick<Response, "status" | "ok" | "json">>;
  /** The fragment of the page's URL, and a function that removes the code from it. */
  readonly hash: () => string;
  readonly clearHash: () => void;
}

const key = "orch.token";

export interface Session {
  /**
   * Restores the session from the stored token, a one-time code or a client certificate, without asking the
   * user.
   */
  begin(): Promise<SignIn>;
  /** Signs in with a token if the server accepts it. */
  withToken(token: string): Promise<SignIn>;
  end(): void;
}

export function session({ storage, fetch, hash, clearHash }: SessionOptions): Session {
  const known = async (token?: string): Promise<number> => {
    const headers = { accept: "application/json", ...(token && { authorization: `Bearer ${token}` }) };
    return await fetch("/apis", { headers, cache: "no-store" }).then(
      ({ status }) => status,
      () => 0,
    );
  };
  const withToken = async (given: string): Promise<SignIn> => {
    const token = given.trim().replace(/^bearer\s+/i, "");
    if (!/^[\x21-\x7e]+$/.test(token)) return { by: "nobody", problem: "This is not a valid token." };
    const status = await known(token);
    if (status === 401) return { by: "nobody", problem: "The token is invalid or has expired." };
    if (status === 0) return { by: "nobody", problem: "The server cannot be reached." };
    storage.setItem(key, token);
    return { by: "token", token };
  };
  const withCode = async (code: string): Promise<SignIn> => {
    const reply = await fetch("/ui/login", {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ code }),
    }).catch(() => undefined);
    if (!reply?.ok)
      return {
        by: "nobody",
        problem: "This link has been used or has expired. Run orch ui to get a new one.",
      };
    const { token } = (await reply.json()) as { token: string };
    storage.setItem(key, token);
    return { by: "token", token };
  };
  return {
    begin: async () => {
      const code = codeIn(hash());
      if (code !== undefined) {
        clearHash();
        return await withCode(code);
      }
      const token = storage.getItem(key);
      if (token !== null) return { by: "token", token };
      return (await known()) === 200 ? { by: "certificate" } : { by: "nobody" };
    },
    withToken,
    end: () => storage.removeItem(key),
  };
}

/** Returns the one-time code in a link. */
export const codeIn = (hash: string): string | undefined => /^#code=([\w-]+)$/.exec(hash)?.[1];

/** Returns the name and namespace of a service account token, or undefined for other tokens. */
export function accountOf(token: string): { readonly namespace: string; readonly name: string } | undefined {
  try {
    const payload = token.split(".")[1]!.replaceAll("-", "+").replaceAll("_", "/");
    const { sub } = JSON.parse(atob(payload)) as { sub?: unknown };
    const found = /^system:serviceaccount:([^:]+):([^:]+)$/.exec(String(sub));
    return found ? { namespace: found[1]!, name: found[2]! } : undefined;
  } catch {
    return undefined;
  }
}
