// Credentials for calls to admission webhooks, from a client-config file whose users are named after the
// servers they are for: `host`, `host:port`, `*.domain` or `*`.
import type { WebhookCredentials } from "#admission";
import { type ClientConfig, type UserEntry, connectionOf, readClientConfig } from "#client";

const usualPort = 443;

/**
 * Returns the lookup of credentials by webhook host and port. Throws an error naming the file if it cannot be
 * used.
 */
export function webhookCredentialsFrom(file: string): (host: string, port: number) => WebhookCredentials {
  const config = readClientConfig(file);
  return (host, port) => {
    const target = port === usualPort ? host : `${host}:${port}`;
    const user = userFor(config, target);
    return user ? credentialsOf(user) : {};
  };
}

function userFor(config: ClientConfig, target: string): UserEntry | undefined {
  const named = (name: string): UserEntry | undefined =>
    config.users.find((user) => user.name === name)?.user;
  const steps = target.split(".");
  const domains = steps.slice(1).map((_, at) => `*.${steps.slice(at + 1).join(".")}`);
  for (const name of [target, ...domains, "*"]) {
    const found = named(name);
    if (found) return found;
  }
  const current = config.contexts.find(({ name }) => name === config["current-context"])?.context.user;
  return current ? named(current) : undefined;
}

/** Credential files are read again for every call, so that rotated credentials take effect. */
function credentialsOf(user: UserEntry): WebhookCredentials {
  const connection = connectionOf({
    apiVersion: "v1",
    kind: "Config",
    clusters: [{ name: "c", cluster: { server: "https://webhook" } }],
    users: [{ name: "u", user }],
    contexts: [{ name: "x", context: { cluster: "c", user: "u" } }],
    "current-context": "x",
  });
  const { certificate, key } = connection.secrets?.() ?? {};
  const token = connection.token?.();
  const basic = connection.headers?.["authorization"];
  return {
    ...(certificate !== undefined && { certificate }),
    ...(key !== undefined && { key }),
    ...(token !== undefined
      ? { authorization: `Bearer ${token}` }
      : typeof basic === "string" && { authorization: basic }),
  };
}
