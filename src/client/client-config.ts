// Client-config files: clusters, users, and contexts that combine them. The format used by all tools for this
// API.
import { readFileSync } from "node:fs";
import { dirname, resolve } from "node:path";
import { writePrivate } from "#base";
import { parseYaml, printYaml } from "#schema";
import type { ConnectionSecrets, HttpsOptions } from "./https.ts";

export interface ClusterEntry {
  server: string;
  "certificate-authority"?: string;
  /** Base64 of PEM text; takes precedence over the file. */
  "certificate-authority-data"?: string;
  "insecure-skip-tls-verify"?: boolean;
  "tls-server-name"?: string;
  "proxy-url"?: string;
}

export interface UserEntry {
  token?: string;
  /** A file with a token that may be replaced at any time; takes precedence over `token`. */
  tokenFile?: string;
  "client-certificate"?: string;
  "client-certificate-data"?: string;
  "client-key"?: string;
  "client-key-data"?: string;
  username?: string;
  password?: string;
  /** Impersonates another user. */
  as?: string;
  "as-groups"?: string[];
  "as-uid"?: string;
  "as-user-extra"?: Record<string, string[]>;
}

export interface ContextEntry {
  cluster: string;
  user: string;
  namespace?: string;
}

/** The content of the file; fields not listed here are preserved when it is read and written. */
export interface ClientConfig {
  apiVersion: "v1";
  kind: "Config";
  clusters: { name: string; cluster: ClusterEntry }[];
  users: { name: string; user: UserEntry }[];
  contexts: { name: string; context: ContextEntry }[];
  "current-context": string;
}

/** A client-config file is unusable; the message says why. */
export class ClientConfigError extends Error {
  override readonly name = "ClientConfigError";
}

const base64 = (text: string): string => Buffer.from(text).toString("base64");

/**
 * Returns a config with one cluster, user and context of the same name. The secrets are PEM and are embedded
 * in the config.
 */
export function singleContext(
  of: {
    readonly name: string;
    readonly server: string;
    readonly token?: string | undefined;
    readonly namespace?: string | undefined;
    /** Files that are read again for every new connection, instead of a certificate and key. */
    readonly files?: { readonly certificate: string; readonly key: string } | undefined;
  } & ConnectionSecrets,
): ClientConfig {
  const { name, server, ca, certificate, key, files, token, namespace } = of;
  return {
    apiVersion: "v1",
    kind: "Config",
    clusters: [
      { name, cluster: { server, ...(ca !== undefined && { "certificate-authority-data": base64(ca) }) } },
    ],
    users: [
      {
        name,
        user: {
          ...(token !== undefined && { token }),
          ...(certificate !== undefined && { "client-certificate-data": base64(certificate) }),
          ...(key !== undefined && { "client-key-data": base64(key) }),
          ...(files && { "client-certificate": files.certificate, "client-key": files.key }),
        },
      },
    ],
    contexts: [
      { name, context: { cluster: name, user: name, ...(namespace !== undefined && { namespace }) } },
    ],
    "current-context": name,
  };
}

/** Reads a file. Relative file names in it refer to its directory. */
export function readClientConfig(file: string): ClientConfig {
  let text: string;
  try {
    text = readFileSync(file, "utf8");
  } catch (error) {
    throw new ClientConfigError(`${file}: ${(error as Error).message}`);
  }
  return parseClientConfig(text, file);
}

export function parseClientConfig(text: string, file: string): ClientConfig {
  let value: unknown;
  try {
    ({ value } = parseYaml(text));
  } catch (error) {
    throw new ClientConfigError(`${file}: ${(error as Error).message}`);
  }
  const bad = (why: string): ClientConfigError => new ClientConfigError(`${file}: ${why}`);
  if (!isRecord(value)) throw bad("is not a client config: expected a map with clusters, users and contexts");
  if ((value["kind"] ?? "Config") !== "Config" || (value["apiVersion"] ?? "v1") !== "v1")
    throw bad(
      `is not a client config: it says kind ${JSON.stringify(value["kind"])}, apiVersion ${JSON.stringify(value["apiVersion"])}`,
    );
  const current = value["current-context"] ?? "";
  if (typeof current !== "string") throw bad("current-context must be the name of a context");
  const folder = dirname(resolve(file));
  return {
    ...value,
    apiVersion: "v1",
    kind: "Config",
    clusters: named(value, "clusters", "cluster", bad, (entry) =>
      paths(folder, entry, ["certificate-authority"]),
    ) as ClientConfig["clusters"],
    users: named(value, "users", "user", bad, (entry) =>
      paths(folder, entry, ["client-certificate", "client-key", "tokenFile"]),
    ) as ClientConfig["users"],
    contexts: named(value, "contexts", "context", bad, (entry) => entry) as ClientConfig["contexts"],
    "current-context": current,
  };
}

type Fields = Record<string, unknown>;
const isRecord = (value: unknown): value is Fields =>
  typeof value === "object" && value !== null && !Array.isArray(value);

function named(
  file: Fields,
  list: string,
  item: string,
  bad: (why: string) => Error,
  adapt: (entry: Fields) => Fields,
): unknown[] {
  const found = file[list] ?? [];
  if (!Array.isArray(found)) throw bad(`${list} must be a list`);
  return found.map((entry: unknown, at) => {
    if (!isRecord(entry) || typeof entry["name"] !== "string") throw bad(`${list}[${at}] must have a name`);
    if (found.findIndex((other) => (other as Fields | null)?.["name"] === entry["name"]) !== at)
      throw bad(`duplicate name ${JSON.stringify(entry["name"])} in ${list}`);
    const inner = entry[item] ?? {};
    if (!isRecord(inner)) throw bad(`${list}[${at}].${item} must be a map`);
    for (const [key, value] of Object.entries(inner))
      if (known.has(key) && typeof value !== known.get(key))
        throw bad(`${list}[${at}].${item}.${key} must be a ${known.get(key)}`);
      else if (key.endsWith("-data") && !/^[A-Za-z0-9+/\s]*={0,2}\s*$/.test(value as string))
        throw bad(`${list}[${at}].${item}.${key} must be base64`);
    return { ...entry, [item]: adapt(inner) };
  });
}

const texts = [
  "server",
  "certificate-authority",
  "certificate-authority-data",
  "tls-server-name",
  "proxy-url",
  "token",
  "tokenFile",
  "client-certificate",
  "client-certificate-data",
  "client-key",
  "client-key-data",
  "username",
  "password",
  "as",
  "as-uid",
  "cluster",
  "user",
  "namespace",
];
const known = new Map<string, string>([
  ...texts.map((name) => [name, "string"] as const),
  ["insecure-skip-tls-verify", "boolean"],
]);

const paths = (folder: string, entry: Fields, keys: readonly string[]): Fields =>
  Object.fromEntries(
    Object.entries(entry).map(([key, value]) => [
      key,
      keys.includes(key) && value !== "" ? resolve(folder, value as string) : value,
    ]),
  );

/** Atomically writes a file that only its owner can read. */
export const writeClientConfig = (file: string, config: ClientConfig): void =>
  writePrivate(file, printYaml(config));

/**
 * Returns the connection options of a context, by default the current one. Files are read again for every new
 * connection.
 */
export function connectionOf(
  config: ClientConfig,
  contextName: string = config["current-context"],
  clientCertificate?: () => Pick<ConnectionSecrets, "certificate" | "key"> | undefined,
): HttpsOptions & { readonly namespace?: string } {
  if (contextName === "") throw new ClientConfigError("the client config has no current-context");
  const context = config.contexts.find(({ name }) => name === contextName)?.context;
  if (!context) throw new ClientConfigError(`the client config has no context "${contextName}"`);
  const cluster = config.clusters.find(({ name }) => name === context.cluster)?.cluster;
  if (!cluster?.server)
    throw new ClientConfigError(
      `context "${contextName}" names cluster "${context.cluster}", of which the client config gives no server`,
    );
  const user = context.user ? config.users.find(({ name }) => name === context.user)?.user : {};
  if (!user)
    throw new ClientConfigError(
      `context "${contextName}" names user "${context.user}", whom the client config does not have`,
    );
  for (const method of ["exec", "auth-provider"]) {
    if (method in user)
      throw new ClientConfigError(
        `user "${context.user}" gets credentials by ${method}, which this client does not run; give it a token or a certificate`,
      );
  }
  const problems = [...clusterProblems(context.cluster, cluster), ...userProblems(context.user, user)];
  if (problems.length > 0) throw new ClientConfigError(`invalid configuration: ${problems.join(", ")}`);
  const secrets = (): ConnectionSecrets => ({
    ca: pem(cluster["certificate-authority-data"], cluster["certificate-authority"]),
    ...(clientCertificate
      ? clientCertificate()
      : {
          certificate: pem(user["client-certificate-data"], user["client-certificate"]),
          key: pem(user["client-key-data"], user["client-key"]),
        }),
  });
  const { ca } = secrets();
  if (ca !== undefined && cluster["insecure-skip-tls-verify"])
    throw new ClientConfigError("specifying a root certificates file with the insecure flag is not allowed");
  if (ca && !ca.includes("-----BEGIN CERTIFICATE-----"))
    throw new ClientConfigError("unable to load root certificates: unable to parse bytes as PEM block");
  return {
    server: cluster.server,
    secrets,
    ...(cluster["insecure-skip-tls-verify"] && { insecure: true }),
    ...(cluster["tls-server-name"] && { serverName: cluster["tls-server-name"] }),
    ...((user.token || user.tokenFile) && { token: tokenOf(user) }),
    headers: headersOf(user),
    ...(context.namespace && { namespace: context.namespace }),
  };
}

const proxySchemes = ["http:", "https:", "socks5:"];

function clusterProblems(name: string, { "proxy-url": proxy }: ClusterEntry): string[] {
  if (!proxy) return [];
  const bad = (why: string): string[] => [`invalid 'proxy-url' "${proxy}" for cluster "${name}": ${why}`];
  if (!URL.canParse(proxy)) return bad(`could not parse: ${proxy}`);
  const { protocol } = new URL(proxy);
  if (proxySchemes.includes(protocol))
    return [`cluster "${name}" is reached by a proxy, which this client does not use; remove its proxy-url`];
  return bad(`unsupported scheme "${protocol.slice(0, -1)}", must be http, https, or socks5`);
}

/** Reports conflicting and incomplete credentials, with kubectl's messages. */
function userProblems(name: string, user: UserEntry): string[] {
  const has = (...keys: (keyof UserEntry)[]): boolean => keys.some((key) => Boolean(user[key]));
  const problems: string[] = [];
  const methods = [...(has("token") ? ["token"] : []), ...(has("username", "password") ? ["basicAuth"] : [])];
  if (methods.length > 1)
    problems.push(
      `more than one authentication method found for ${name}; found [${methods.join(" ")}], only one is allowed`,
    );
  if (has("client-certificate", "client-certificate-data") && !has("client-key", "client-key-data"))
    problems.push(
      `client-key-data or client-key must be specified for ${name} to use the clientCert authentication method.`,
    );
  const { "as-groups": groups = [], "as-user-extra": extra = {} } = user;
  if (!user.as && (has("as-uid") || groups.length > 0 || Object.keys(extra).length > 0))
    problems.push(`requesting uid, groups or user-extra for ${name} without impersonating a user`);
  return problems;
}

function pem(data: string | undefined, file: string | undefined): string | undefined {
  if (data) return Buffer.from(data, "base64").toString();
  if (!file) return undefined;
  try {
    return readFileSync(file, "utf8");
  } catch (error) {
    throw new ClientConfigError(`${file}: ${(error as Error).message}`);
  }
}

const tokenFreshMilliseconds = 10_000;

/**
 * Returns the token, reading the file again when it may have changed; the last token is used while the file
 * cannot be read.
 */
function tokenOf(user: UserEntry): () => string | undefined {
  const { tokenFile } = user;
  if (!tokenFile) return () => user.token;
  let token = user.token;
  let readAt = -Infinity;
  return () => {
    if (performance.now() - readAt < tokenFreshMilliseconds) return token;
    try {
      token = readFileSync(tokenFile, "utf8").trim() || token;
      readAt = performance.now();
    } catch (error) {
      if (token === undefined) throw new ClientConfigError(`${tokenFile}: ${(error as Error).message}`);
    }
    return token;
  };
}

function headersOf(user: UserEntry): Record<string, string | string[]> {
  return {
    ...(user.username && { authorization: `Basic ${base64(`${user.username}:${user.password ?? ""}`)}` }),
    ...(user.as && { "impersonate-user": user.as }),
    ...(user["as-uid"] && { "impersonate-uid": user["as-uid"] }),
    ...(user["as-groups"]?.length && { "impersonate-group": user["as-groups"] }),
    ...Object.fromEntries(
      Object.entries(user["as-user-extra"] ?? {}).map(([key, values]) => [
        `impersonate-extra-${escapedForHeader(key)}`,
        values,
      ]),
    ),
  };
}

/** Percent-encodes characters of a key that are not allowed in header names. */
const escapedForHeader = (key: string): string =>
  key.replace(/[^\w!#$&'*+.^`|~-]/gu, (character) =>
    [...Buffer.from(character)]
      .map((byte) => `%${byte.toString(16).toUpperCase().padStart(2, "0")}`)
      .join(""),
  );
