// Maintains the addresses behind the API server's own service, as Endpoints and as an EndpointSlice.
import { isDeepStrictEqual } from "node:util";
import type { Endpoints } from "#api";
import type { Clock } from "#base";
import {
  type ApiObject,
  type Resource,
  ordinaryIpErrors,
  parseIp,
  update,
  type ServerObjects,
} from "#registry";
import type { OwnAddresses } from "./own-addresses.ts";

export interface OwnEndpointsOptions {
  readonly server: ServerObjects;
  readonly clock: Clock;
  /** The address at which other members of the cluster reach this server. */
  readonly address: string;
  readonly port: number;
  /** The addresses of this server and of its peers. */
  readonly addresses: OwnAddresses;
}

export interface OwnEndpoints {
  /** Maintains the addresses until the signal is aborted, then removes this server's own. */
  run(signal: AbortSignal): Promise<void>;
}

const everyMilliseconds = 10_000;
const shutdownTimeoutMilliseconds = 2000;

export function ownEndpoints(options: OwnEndpointsOptions): OwnEndpoints {
  const { server, clock, address, port, addresses } = options;
  // An address that is only meaningful on this host is not published.
  const publishable = ordinaryIpErrors(address, "").length === 0;
  const reconcile = async (): Promise<void> => {
    await addresses.renew?.();
    await writeEndpoints(server, (present) => addresses.whileRunning(present), port);
  };
  const removeOwn = async (): Promise<void> => {
    await addresses.release?.();
    if (addresses.afterShutdown) await writeEndpoints(server, addresses.afterShutdown, port);
  };
  const logErrors = async (action: () => Promise<void>): Promise<void> => {
    try {
      await action();
    } catch (error) {
      server.onError("the endpoints of the server's own service could not be written", {
        error: (error as Error).message,
      });
    }
  };
  return {
    run: async (signal) => {
      if (!publishable) return;
      while (!signal.aborted) {
        await logErrors(reconcile);
        await clock.sleep(everyMilliseconds, signal).catch(() => undefined);
      }
      // If the server stops because the store is unavailable, it does not wait for it: the lease expires by
      // itself.
      const { promise: timeout, resolve } = Promise.withResolvers<void>();
      const cancel = clock.after(shutdownTimeoutMilliseconds, resolve);
      await Promise.race([logErrors(removeOwn), timeout]);
      cancel();
    },
  };
}

/**
 * Writes the addresses as Endpoints and as an EndpointSlice in the IP family of the first address.
 * `addresses` is called with the stored addresses on every attempt, so that concurrent additions are kept.
 */
async function writeEndpoints(
  server: ServerObjects,
  addresses: OwnAddresses["whileRunning"],
  port: number,
): Promise<void> {
  const { dialect } = server;
  const { resource } = server.resources.endpoints;
  const { labels } = dialect.names;
  const ports = [{ name: "https", port, protocol: "TCP" }];
  await writeObject(server, resource, { [labels.skipEndpointMirror]: "true" }, async (present) => {
    const all = await addresses(addressesIn(present));
    return all.length === 0 ? {} : { subsets: [{ addresses: all.map((ip) => ({ ip })), ports }] };
  });
  await writeObject(
    server,
    server.resources.endpointSlices.resource,
    { [labels.serviceName]: dialect.data.apiService },
    async () => {
      const key = resource.keyOf("default", dialect.data.apiService);
      const cached = await resource.source.get(key, { at: "latest" });
      const all = await addresses(addressesIn(cached && resource.objectOf(cached)));
      const family = parseIp(all[0] ?? "")?.family ?? 4;
      const mine = all.filter((each) => parseIp(each)?.family === family);
      return {
        addressType: `IPv${family}`,
        endpoints: mine.map((each) => ({ addresses: [each], conditions: { ready: true } })),
        ports,
      };
    },
  );
}

/** Returns the stored addresses. Endpoints with no subset or more than one were not written by a server. */
function addressesIn(present: ApiObject | undefined): readonly string[] | undefined {
  const { subsets = [] } = (present ?? {}) as Partial<Endpoints>;
  return subsets.length === 1 ? (subsets[0]?.addresses ?? []).map(({ ip }) => ip) : undefined;
}

type Content = Readonly<Record<string, unknown>>;

async function writeObject(
  server: ServerObjects,
  resource: Resource,
  labels: Readonly<Record<string, string>>,
  contentOf: (present: ApiObject | undefined) => Promise<Content>,
): Promise<void> {
  const name = server.dialect.data.apiService;
  const endpoint = resource.endpoints[0]!;
  const key = resource.keyOf("default", name);
  let cached = await resource.source.get(key, { at: "latest" });
  if (!cached) {
    await server.writer.ensure(endpoint, {
      metadata: { name, namespace: "default", creationTimestamp: null, labels },
      ...(await contentOf(undefined)),
    });
    // Another server may have created it first, with less content.
    cached = await resource.source.get(key, { at: "latest" });
    if (!cached) return;
  }
  const withoutMetadata = ({
    apiVersion: _version,
    kind: _kind,
    metadata: _metadata,
    ...rest
  }: ApiObject): object => rest;
  const present = resource.objectOf(cached);
  const labelled = Object.entries(labels).every(
    ([label, value]) => present.metadata.labels?.[label] === value,
  );
  if (labelled && isDeepStrictEqual(withoutMetadata(present), await contentOf(present))) return;
  const transform = async (old: ApiObject | undefined): Promise<ApiObject> => {
    const { apiVersion, kind, metadata } = old!;
    return {
      apiVersion,
      kind,
      metadata: { ...metadata, labels: { ...metadata.labels, ...labels } },
      ...(await contentOf(old)),
    };
  };
  await update(server.writer.request(endpoint, "default"), name, { transform });
}
