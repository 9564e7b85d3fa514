// Cluster discovery with a bootstrap token: the cluster info is trusted only if it is signed with the token
// and its CA has the given key hash.
import { X509Certificate, createHash, createHmac, timingSafeEqual } from "node:crypto";
import { type ClientConfig, https, parseClientConfig, textOf } from "#client";
import type { Dialect } from "#dialect";

export interface BootstrapToken {
  readonly id: string;
  readonly secret: string;
}

export function parseToken(given: string): BootstrapToken | undefined {
  const found = /^([a-z0-9]{6})\.([a-z0-9]{16})$/.exec(given);
  return found ? { id: found[1]!, secret: found[2]! } : undefined;
}

/** Returns the hash of a CA's public key, as other tools of this family write it. */
export const authorityHash = (certificate: string): string =>
  `sha256:${createHash("sha256")
    .update(new X509Certificate(certificate).publicKey.export({ type: "spki", format: "der" }))
    .digest("hex")}`;

export interface FoundCluster {
  readonly server: string;
  readonly authority: string;
}

/** Verifies the cluster info; throws if it cannot be trusted. */
export function verifyClusterInfo(
  data: Readonly<Record<string, string>>,
  token: BootstrapToken,
  hash: string,
  dialect: Dialect,
): FoundCluster {
  const { clusterInfoConfig, clusterInfoSignaturePrefix } = dialect.names.objects;
  const content = data[clusterInfoConfig] ?? "";
  const [header = "", payload, signature = ""] = (data[clusterInfoSignaturePrefix + token.id] ?? "").split(
    ".",
  );
  const expected = createHmac("sha256", token.secret)
    .update(`${header}.${Buffer.from(content).toString("base64url")}`)
    .digest();
  const given = Buffer.from(signature, "base64url");
  const isSigned =
    payload === "" &&
    /"alg":\s*"HS256"/.test(Buffer.from(header, "base64url").toString()) &&
    given.length === expected.length &&
    timingSafeEqual(given, expected);
  if (!isSigned)
    throw new Error(
      "the cluster does not know this token: it may have expired, or belong to another cluster",
    );
  const found = clusterIn(content, dialect);
  if (authorityHash(found.authority) !== hash)
    throw new Error(`the CA of the cluster does not match ${hash}`);
  return found;
}

function clusterIn(content: string, dialect: Dialect): FoundCluster {
  const config: ClientConfig = parseClientConfig(content, dialect.names.objects.clusterInfoConfig);
  const { server = "", "certificate-authority-data": encoded = "" } = config.clusters?.[0]?.cluster ?? {};
  return { server, authority: Buffer.from(encoded, "base64").toString() };
}

/** Fetches the cluster info from a server whose certificate cannot be verified yet. */
export async function discover(
  server: string,
  token: BootstrapToken,
  hash: string,
  dialect: Dialect,
): Promise<FoundCluster> {
  return verifyClusterInfo(await fetchClusterInfo(server, dialect), token, hash, dialect);
}

/** Returns what a server publishes about its cluster, unverified; undefined if it publishes nothing now. */
export async function publishedCluster(server: string, dialect: Dialect): Promise<FoundCluster | undefined> {
  try {
    const data = await fetchClusterInfo(server, dialect);
    return clusterIn(data[dialect.names.objects.clusterInfoConfig] ?? "", dialect);
  } catch {
    return undefined;
  }
}

async function fetchClusterInfo(server: string, dialect: Dialect): Promise<Readonly<Record<string, string>>> {
  const transport = https({ server, insecure: true });
  try {
    const { publicNamespace } = dialect.data;
    const response = await transport.send({
      method: "GET",
      path: `/api/v1/namespaces/${publicNamespace}/configmaps/${dialect.names.objects.clusterInfo}`,
      timeoutMilliseconds: 10_000,
    });
    const text = await textOf(response);
    if (response.status !== 200)
      throw new Error(
        `${server} does not allow machines to join (status ${response.status}): was it started with --bind-address?`,
      );
    const { data = {} } = JSON.parse(text) as { data?: Record<string, string> };
    return data;
  } finally {
    transport.close();
  }
}
