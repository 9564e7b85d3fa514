// Publishes to extension API servers how this server authenticates clients: a config map with the certificate
// authorities of clients and the headers of trusted proxies. Servers that share a store merge their data;
// expired certificates are dropped.
import type { X509Certificate } from "node:crypto";
import { readFile } from "node:fs/promises";
import { isDeepStrictEqual } from "node:util";
import type { ConfigMap } from "#api";
import { certificatesOf } from "#authn";
import { type ApiObject, update, type ServerObjects } from "#registry";
import { type PostStartHook, postStartHook } from "./post-start-hook.ts";
import type { ApiserverSettings } from "../options/settings.ts";

type TrustSettings = Pick<
  ApiserverSettings,
  | "clientCaFile"
  | "requestheaderClientCaFile"
  | "requestheaderAllowedNames"
  | "requestheaderUsernameHeaders"
  | "requestheaderGroupHeaders"
  | "requestheaderExtraHeadersPrefix"
>;

type Data = Readonly<Record<string, string>>;

/** The authentication data of one server. */
export interface Trust {
  readonly clientAuthorities: string;
  readonly proxyAuthorities: string;
  /** Request-header settings by their key in the config map. */
  readonly requestHeaders: Readonly<Record<(typeof requestHeaderKeys)[number], readonly string[]>>;
}

const requestHeaderKeys = [
  "requestheader-username-headers",
  "requestheader-group-headers",
  "requestheader-extra-headers-prefix",
  "requestheader-allowed-names",
] as const;
const clientKey = "client-ca-file";
const proxyKey = "requestheader-client-ca-file";
const everyMilliseconds = 10_000;
const graceMilliseconds = 5 * 60_000;

/** Reconciles the config map. */
export function clusterAuthenticationInfo(server: ServerObjects, settings: TrustSettings): PostStartHook {
  const { names, data } = server.dialect;
  const resource = server.resources.configMaps.resource;
  return postStartHook({
    name: "poststarthook/start-cluster-authentication-info-controller",
    everyMilliseconds,
    follows: [{ resource, key: resource.keyOf(data.systemNamespace, names.objects.extensionAuthentication) }],
    reconcile: async () => {
      if (settings.clientCaFile || settings.requestheaderClientCaFile)
        await publishTrust(server, await readTrust(settings), server.clock.now());
    },
    failed: ({ message: error }) =>
      server.onError("cluster authentication info could not be published; retrying", { error }),
  });
}

/** Merges a server's own data into the stored data. */
export function combinedTrust(stored: Data, trust: Trust, now: number): Data {
  const clients = mergeCertificates([stored[clientKey] ?? "", trust.clientAuthorities], now);
  const proxies = mergeCertificates([stored[proxyKey] ?? "", trust.proxyAuthorities], now);
  return {
    ...(clients && { [clientKey]: clients }),
    ...(proxies && {
      ...Object.fromEntries(
        requestHeaderKeys.map((key) => [
          key,
          JSON.stringify([...new Set([...parseList(stored[key]), ...trust.requestHeaders[key]])]),
        ]),
      ),
      [proxyKey]: proxies,
    }),
  };
}

async function readTrust(settings: TrustSettings): Promise<Trust> {
  const text = (file: string): Promise<string> => (file ? readFile(file, "utf8") : Promise.resolve(""));
  return {
    clientAuthorities: await text(settings.clientCaFile),
    proxyAuthorities: await text(settings.requestheaderClientCaFile),
    requestHeaders: {
      "requestheader-username-headers": settings.requestheaderUsernameHeaders,
      "requestheader-group-headers": settings.requestheaderGroupHeaders,
      "requestheader-extra-headers-prefix": settings.requestheaderExtraHeadersPrefix,
      "requestheader-allowed-names": settings.requestheaderAllowedNames,
    },
  };
}

async function publishTrust(server: ServerObjects, trust: Trust, now: number): Promise<void> {
  const { names, data } = server.dialect;
  const [name, namespace] = [names.objects.extensionAuthentication, data.systemNamespace];
  const resource = server.resources.configMaps.resource;
  const endpoint = resource.endpoints[0]!;
  const cached = await resource.source.get(resource.keyOf(namespace, name), { at: "latest" });
  if (!cached)
    return await server.writer.ensure(endpoint, {
      metadata: { name, namespace, creationTimestamp: null },
      data: combinedTrust({}, trust, now),
    });
  const dataOf = (object: ApiObject | undefined): Data => (object as unknown as ConfigMap).data ?? {};
  const present = dataOf(resource.objectOf(cached));
  if (isDeepStrictEqual({ ...present }, combinedTrust(present, trust, now))) return;
  await update(server.writer.request(endpoint, namespace), name, {
    transform: (old) => ({ ...old!, data: combinedTrust(dataOf(old), trust, now) }) as ApiObject,
  });
}

/** Returns the certificates of all texts without duplicates and without those that have expired. */
function mergeCertificates(texts: readonly string[], now: number): string {
  const found = new Map<string, X509Certificate>();
  for (const text of texts.filter(Boolean))
    for (const certificate of certificatesOf(text, "authorities"))
      found.set(certificate.fingerprint256, certificate);
  return [...found.values()]
    .filter(({ validTo }) => Date.parse(validTo) > now - graceMilliseconds)
    .map((certificate) => `${certificate.toString().trimEnd()}\n`)
    .join("");
}

function parseList(text = ""): string[] {
  if (text === "") return [];
  return (JSON.parse(text) as unknown[]).map(String);
}
