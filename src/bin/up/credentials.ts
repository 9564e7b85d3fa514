// The cluster's certificates, keys and tokens: created at the first start, kept, and renewed before they
// expire.
import { generateKeyPairSync, randomBytes } from "node:crypto";
import { existsSync, readFileSync } from "node:fs";
import { hostname, networkInterfaces } from "node:os";
import { join } from "node:path";
import { isDeepStrictEqual } from "node:util";
import {
  type CertificatePair,
  createAuthority,
  mastersGroup,
  nodesGroup,
  signClient,
  signServing,
  isPairUsable,
  writePair,
} from "#authn";
import { makeFolder, writePrivate } from "#base";
import {
  type ConnectionSecrets,
  connectionOf,
  readClientConfig,
  singleContext,
  writeClientConfig,
} from "#client";
import type { Dialect } from "#dialect";
import { clusterDomain } from "./network-plans.ts";
import type { ClusterPaths } from "./paths.ts";
import { apiServiceAddress } from "./service-range.ts";

export interface Credentials {
  readonly authorityFile: string;
  readonly authorityKeyFile: string;
  readonly servingCertificate: string;
  readonly servingKey: string;
  readonly agentServingCertificate: string;
  readonly agentServingKey: string;
  readonly accountKey: string;
  /** Client certificate of the API server for requests to the agent. */
  readonly callingCertificate: string;
  readonly callingKey: string;
  readonly frontProxyAuthorityFile: string;
  /** Client certificate of the API server for requests to aggregated servers. */
  readonly frontProxyCertificate: string;
  readonly frontProxyKey: string;
}

/** Name of the API server in its front proxy certificate. */
export const frontProxyName = "front-proxy-client";

export interface CredentialOptions {
  readonly paths: ClusterPaths;
  readonly dialect: Dialect;
  readonly server: string;
  readonly bindAddress: string;
  readonly nodeName: string;
  readonly now: number;
}

const accountKeyName = "accounts.key";
const authorityDays = 3650;
const days = 365;
/** A cluster created while the clock was ahead must work once the clock is right. */
const backdateDays = 365;
/** Certificates are renewed when less than this is left. */
const renewalMargin = 30 * 86_400_000;

export function credentialsFor({
  paths,
  dialect,
  server,
  bindAddress,
  nodeName,
  now,
}: CredentialOptions): Credentials {
  makeFolder(paths.pki);
  const file = (name: string): string => join(paths.pki, name);
  refuseLostKeys(paths.pki);
  const loadOrCreate = (
    name: string,
    names: readonly string[],
    authority: string | undefined,
    make: () => CertificatePair,
  ): CertificatePair => {
    const [certificateFile, keyFile] = [file(`${name}.crt`), file(`${name}.key`)];
    const found = pairIn(certificateFile, keyFile);
    const issued =
      authority === undefined ||
      (existsSync(file(`${name}.issuer`)) && readFileSync(file(`${name}.issuer`), "utf8") === authority);
    if (found && issued && isPairUsable(found, names, now, renewalMargin)) return found;
    const created = make();
    writePair(created, certificateFile, keyFile);
    if (authority !== undefined) writePrivate(file(`${name}.issuer`), authority);
    return created;
  };
  const validity = { now, days, backdateDays };
  const authority = loadOrCreate("ca", [], undefined, () =>
    createAuthority({ commonName: `${dialect.cli.product} up` }, { now, days: authorityDays, backdateDays }),
  );
  // Before any certificate, which shows that the key was there.
  if (!existsSync(file(accountKeyName)))
    writePrivate(
      file(accountKeyName),
      generateKeyPairSync("ec", { namedCurve: "P-256" }).privateKey.export({ type: "pkcs8", format: "pem" }),
    );
  const names = servingNames(dialect, bindAddress);
  loadOrCreate("apiserver", names, authority.certificate, () =>
    signServing(authority, { commonName: dialect.cli.apiServer }, names, validity),
  );
  const agentNames = [...new Set([nodeName, "localhost", "127.0.0.1", ...addresses()])];
  loadOrCreate("agent-serving", agentNames, authority.certificate, () =>
    signServing(authority, { commonName: nodeName }, agentNames, validity),
  );
  const admin = loadOrCreate("admin", [], authority.certificate, () =>
    signClient(authority, { commonName: "admin", organizations: [mastersGroup] }, validity),
  );
  loadOrCreate("agent", [], authority.certificate, () =>
    signClient(authority, { commonName: `system:node:${nodeName}`, organizations: [nodesGroup] }, validity),
  );
  loadOrCreate("network", [], authority.certificate, () =>
    signClient(authority, { commonName: dialect.names.users.proxy }, validity),
  );
  loadOrCreate("calling", [], authority.certificate, () =>
    signClient(
      authority,
      { commonName: `${dialect.cli.apiServer}-${dialect.cli.agent}-client`, organizations: [mastersGroup] },
      validity,
    ),
  );
  // A separate CA, since the holder of its certificates may act as any user.
  const frontProxyAuthority = loadOrCreate("front-proxy-ca", [], undefined, () =>
    createAuthority({ commonName: "front-proxy-ca" }, { now, days: authorityDays, backdateDays }),
  );
  loadOrCreate("front-proxy-client", [], frontProxyAuthority.certificate, () =>
    signClient(frontProxyAuthority, { commonName: frontProxyName }, validity),
  );
  if (!existsSync(paths.tokens))
    writePrivate(paths.tokens, `${randomBytes(24).toString("base64url")},admin,admin,"${mastersGroup}"\n`);
  const cluster = { name: dialect.cli.product, server, ca: authority.certificate };
  // Users may have changed it, or copied it elsewhere.
  if (!isConfigOf(paths.adminConfig, { ...cluster, ...admin }))
    writeClientConfig(paths.adminConfig, singleContext({ ...cluster, ...admin }));
  for (const [path, name] of [
    [paths.agentConfig, "agent"],
    [paths.networkConfig, "network"],
  ] as const) {
    const files = { certificate: file(`${name}.crt`), key: file(`${name}.key`) };
    writeClientConfig(path, singleContext({ ...cluster, files }));
  }
  return {
    authorityFile: file("ca.crt"),
    authorityKeyFile: file("ca.key"),
    servingCertificate: file("apiserver.crt"),
    servingKey: file("apiserver.key"),
    agentServingCertificate: file("agent-serving.crt"),
    agentServingKey: file("agent-serving.key"),
    accountKey: file(accountKeyName),
    callingCertificate: file("calling.crt"),
    callingKey: file("calling.key"),
    frontProxyAuthorityFile: file("front-proxy-ca.crt"),
    frontProxyCertificate: file("front-proxy-client.crt"),
    frontProxyKey: file("front-proxy-client.key"),
  };
}

const pairIn = (certificateFile: string, keyFile: string): CertificatePair | undefined =>
  existsSync(certificateFile) && existsSync(keyFile)
    ? { certificate: readFileSync(certificateFile, "utf8"), key: readFileSync(keyFile, "utf8") }
    : undefined;

/**
 * Throws if there are certificates of the cluster, but their CA or the key of service accounts is lost: clients and
 * nodes would not trust a new one, and tokens would be invalid.
 */
function refuseLostKeys(pki: string): void {
  const issued = join(pki, "apiserver.issuer");
  if (!existsSync(issued)) return;
  const lost = ["ca.crt", "ca.key", accountKeyName].filter((name) => !existsSync(join(pki, name)));
  const found = pairIn(join(pki, "ca.crt"), join(pki, "ca.key"));
  if (lost.length === 0 && found && isPairUsable(found, [], -Infinity, 0)) return;
  const problem =
    lost.length === 0 ? "ca.crt and ca.key do not belong together" : `${lost.join(" and ")} cannot be found`;
  const consequence =
    lost.join() === accountKeyName
      ? "the tokens of service accounts become invalid"
      : "other machines must join again, and copies of the client config become invalid";
  throw new Error(
    `${problem}, but there are certificates of the cluster; restore the files from a copy, or remove ${issued} to create new ones: then ${consequence}`,
  );
}

/** Reports whether a CA will be created for data of an earlier one, such as a restored store. */
export const createsAuthorityForData = ({ root, pki }: ClusterPaths): boolean =>
  existsSync(join(root, "store", "store.db")) && !existsSync(join(pki, "ca.crt"));

/** Reports whether a client config connects to this server with these credentials. */
function isConfigOf(
  path: string,
  { server, ca, certificate, key }: { readonly server: string } & ConnectionSecrets,
): boolean {
  try {
    const found = connectionOf(readClientConfig(path));
    return found.server === server && isDeepStrictEqual(found.secrets?.(), { ca, certificate, key });
  } catch {
    return false;
  }
}

function servingNames(dialect: Dialect, bindAddress: string): string[] {
  const service = dialect.data.apiService;
  const external = bindAddress === "0.0.0.0" || bindAddress === "::" ? addresses() : [bindAddress];
  return [
    ...new Set([
      "localhost",
      "127.0.0.1",
      hostname(),
      service,
      `${service}.default`,
      `${service}.default.svc`,
      `${service}.default.svc.${clusterDomain}`,
      apiServiceAddress,
      ...external,
    ]),
  ];
}

/** Returns the address at which other machines reach a server bound to this address. */
export const outsideAddress = (bindAddress: string): string =>
  bindAddress === "0.0.0.0" || bindAddress === "::" ? (addresses()[0] ?? "127.0.0.1") : bindAddress;

const addresses = (): string[] =>
  Object.values(networkInterfaces())
    .flat()
    .flatMap((item) => (item && !item.internal && item.family === "IPv4" ? [item.address] : []));
