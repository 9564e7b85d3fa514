// A real identity provider (the package oidc-provider) on loopback. Users log in as in a browser: with forms,
// cookies and redirects, until a code is exchanged for an identity token.
import assert from "node:assert/strict";
import { generateKeyPairSync, randomBytes } from "node:crypto";
import { once } from "node:events";
import { type Server, createServer, request } from "node:https";
import type { AddressInfo } from "node:net";
import { createAuthority, signServing } from "#authn";

export interface IdentityProvider {
  /** The issuer URL in tokens. */
  readonly url: string;
  /** PEM text of the authority that signed the provider's certificate. */
  readonly ca: string;
  /** Logs a user in at a client and returns the identity token. */
  login(name: string, client?: string): Promise<string>;
  /** Stops the provider. */
  stop(): Promise<void>;
  /** Starts the provider again at the same address, with its previous keys or new ones. */
  start(keys?: "new"): Promise<void>;
}

const redirect = "https://app.example/callback";

/** Every user is a member of `groups`. */
export async function startIdentityProvider(
  clients: readonly string[],
  groups: readonly string[],
): Promise<IdentityProvider> {
  // Loaded lazily: all tests load the kit, few need the provider.
  const { Provider } = await import("oidc-provider");
  const validity = { now: Date.now(), days: 1 };
  const authority = createAuthority({ commonName: "identity-ca" }, validity);
  const serving = signServing(authority, { commonName: "identity" }, ["127.0.0.1"], validity);
  let keys = newKeys();
  let server: Server | undefined;
  let port = 0;
  const url = (): string => `https://127.0.0.1:${port}`;

  const start = async (which?: "new"): Promise<void> => {
    if (which === "new") keys = newKeys();
    const listening = createServer({ cert: serving.certificate, key: serving.key }).listen(port, "127.0.0.1");
    await once(listening, "listening");
    ({ port } = listening.address() as AddressInfo);
    // The issuer URL contains the port.
    listening.on("request", new Provider(url(), configurationOf(clients, groups, keys)).callback());
    server = listening;
  };
  await start();
  return {
    url: url(),
    ca: authority.certificate,
    login: (name, client = clients[0]!) => login(url(), authority.certificate, name, client),
    start,
    stop: async () => {
      server?.closeAllConnections();
      server?.close();
      if (server) await once(server, "close");
      server = undefined;
    },
  };
}

function newKeys(): object[] {
  const { privateKey } = generateKeyPairSync("rsa", { modulusLength: 2048 });
  return [
    {
      ...privateKey.export({ format: "jwk" }),
      use: "sig",
      alg: "RS256",
      kid: randomBytes(8).toString("hex"),
    },
  ];
}

const configurationOf = (clients: readonly string[], groups: readonly string[], keys: object[]): object => ({
  clients: clients.map((client) => ({
    client_id: client,
    client_secret: `secret-of-${client}`,
    redirect_uris: [redirect],
    grant_types: ["authorization_code"],
    response_types: ["code"],
  })),
  jwks: { keys },
  ttl: {
    AccessToken: 3600,
    AuthorizationCode: 60,
    Grant: 3600,
    IdToken: 3600,
    Interaction: 600,
    Session: 3600,
  },
  cookies: { keys: [randomBytes(16).toString("hex")] },
  claims: { openid: ["sub"], groups: ["groups"] },
  conformIdTokenClaims: false,
  pkce: { required: () => false },
  findAccount: (_context: unknown, id: string) => ({
    accountId: id,
    claims: async () => ({ sub: id, groups }),
  }),
});

interface Page {
  readonly status: number;
  readonly location: string;
  readonly body: string;
}

async function login(issuer: string, ca: string, name: string, client: string): Promise<string> {
  const cookies = new Map<string, string>();
  const ask = (path: string, form?: Readonly<Record<string, string>>, basic?: string): Promise<Page> =>
    new Promise((resolve, reject) => {
      const headers: Record<string, string> = {};
      if (cookies.size > 0) headers["cookie"] = Array.from(cookies, (pair) => pair.join("=")).join("; ");
      if (form) headers["content-type"] = "application/x-www-form-urlencoded";
      if (basic) headers["authorization"] = `Basic ${Buffer.from(basic).toString("base64")}`;
      const sent = request(new URL(path, issuer), {
        method: form ? "POST" : "GET",
        ca,
        headers,
        agent: false,
      });
      sent.on("error", reject);
      sent.on("response", (reply) => {
        for (const text of reply.headers["set-cookie"] ?? []) {
          const [pair = ""] = text.split(";", 1);
          const at = pair.indexOf("=");
          if (at === pair.length - 1) cookies.delete(pair.slice(0, at));
          else cookies.set(pair.slice(0, at), pair.slice(at + 1));
        }
        let body = "";
        reply.setEncoding("utf8").on("data", (chunk: string) => (body += chunk));
        reply.on("error", reject);
        reply.on("end", () =>
          resolve({ status: reply.statusCode!, location: reply.headers.location ?? "", body }),
        );
      });
      sent.end(form && new URLSearchParams(form).toString());
    });
  const question = new URLSearchParams({
    client_id: client,
    response_type: "code",
    scope: "openid groups",
    redirect_uri: redirect,
    nonce: randomBytes(8).toString("hex"),
  });
  let { location, body } = await ask(`/auth?${question}`);
  const prompts = ["login", "consent"];
  // Each page redirects to the next one or shows a form.
  for (let pages = 0; !location.startsWith(redirect); pages++) {
    assert.ok(location !== "" && pages < 10, `the login ends nowhere: ${body}`);
    const { pathname } = new URL(location, issuer);
    const prompt = pathname.startsWith("/interaction/") ? prompts.shift() : undefined;
    ({ location, body } = prompt
      ? await ask(pathname, { prompt, ...(prompt === "login" && { login: name, password: "any" }) })
      : await ask(location));
  }
  const code = new URL(location).searchParams.get("code");
  assert.ok(code, `no code: ${location}`);
  const form = { grant_type: "authorization_code", code, redirect_uri: redirect };
  const answer = await ask("/token", form, `${client}:secret-of-${client}`);
  assert.equal(answer.status, 200, answer.body);
  return (JSON.parse(answer.body) as { id_token: string }).id_token;
}
