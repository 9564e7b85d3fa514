// The addresses behind the server's own service. A server with a store of its own is alone; servers that
// share a store each keep a lease in it, and whoever looks writes down all that are alive.
import { isDeepStrictEqual } from "node:util";
import type { Clock } from "#base";
import {
  type ApiObject,
  type Resource,
  ordinaryIpErrors,
  parseIp,
  update,
  type ServerObjects,
} from "#registry";
import type { Store } from "#store";

export interface OwnEndpointsOptions {
  readonly server: ServerObjects;
  readonly store: Store;
  readonly storePrefix: string;
  readonly clock: Clock;
  /** Where other members of the cluster reach this server. */
  readonly address: string;
  readonly port: number;
  /** Other servers may use the same store. */
  readonly shared: boolean;
}

export interface OwnEndpoints {
  /** Looks after the addresses until the signal, then takes its own away. */
  keep(signal: AbortSignal): Promise<void>;
}

const leaseSeconds = 30;
const everyMilliseconds = 10_000;
const mostLeavingMilliseconds = 2000;

export function ownEndpoints(options: OwnEndpointsOptions): OwnEndpoints {
  const { server, store, storePrefix, clock, address, port, shared } = options;
  const leases = `${storePrefix}/masterleases/`;
  // An address that means something only on this machine cannot be told to others.
  const tellable = ordinaryIpErrors(address, "").length === 0;
  const look = async (): Promise<void> => {
    if (!shared) return await writeDown(server, async () => [address], port);
    await store.write({
      key: leases + address,
      value: Buffer.from(address),
      expect: "any",
      ttlSeconds: leaseSeconds,
    });
    await writeDown(server, () => alive(store, leases), port);
  };
  const leave = async (): Promise<void> => {
    if (!shared) return;
    await store.write({ key: leases + address, value: null, expect: "any" });
    await writeDown(server, () => alive(store, leases), port);
  };
  const tried = async (what: () => Promise<void>): Promise<void> => {
    try {
      await what();
    } catch (error) {
      server.onError("the addresses behind the server's own service could not be written down", {
        error: (error as Error).message,
      });
    }
  };
  return {
    keep: async (signal) => {
      if (!tellable) return;
      while (!signal.aborted) {
        await tried(look);
        await clock.sleep(everyMilliseconds, signal).catch(() => undefined);
      }
      // Whoever stops because the store is gone does not wait for it: the lease ends by itself.
      const { promise: enough, resolve } = Promise.withResolvers<void>();
      const cancel = clock.after(mostLeavingMilliseconds, resolve);
      await Promise.race([tried(leave), enough]);
      cancel();
    },
  };
}

async function alive(store: Store, prefix: string): Promise<string[]> {
  const { entries } = await store.read({ prefix });
  return entries.map(({ key }) => key.slice(prefix.length)).toSorted();
}

/**
 * Addresses as Endpoints and as a slice of them, in the family of the first. They are asked for once it is
 * known what they replace: whoever came later is among them.
 */
async function writeDown(
  server: ServerObjects,
  addresses: () => Promise<readonly string[]>,
  port: number,
): Promise<void> {
  const { dialect } = server;
  const { labels } = dialect.names;
  const ports = [{ name: "https", port, protocol: "TCP" }];
  await put(
    server,
    server.resources.endpoints.resource,
    { [labels.skipEndpointMirror]: "true" },
    async () => {
      const all = await addresses();
      return all.length === 0 ? {} : { subsets: [{ addresses: all.map((ip) => ({ ip })), ports }] };
    },
  );
  await put(
    server,
    server.resources.endpointSlices.resource,
    { [labels.serviceName]: dialect.data.apiService },
    async () => {
      const all = await addresses();
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

type Content = Readonly<Record<string, unknown>>;

async function put(
  server: ServerObjects,
  resource: Resource,
  labels: Readonly<Record<string, string>>,
  contentOf: () => Promise<Content>,
): Promise<void> {
  const name = server.dialect.data.apiService;
  const endpoint = resource.endpoints[0]!;
  const key = resource.keyOf("default", name);
  let cached = await resource.source.get(key, { at: "latest" });
  if (!cached) {
    await server.writer.ensure(endpoint, {
      metadata: { name, namespace: "default", creationTimestamp: null, labels },
      ...(await contentOf()),
    });
    // Somebody else may have made it first, with less.
    cached = await resource.source.get(key, { at: "latest" });
    if (!cached) return;
  }
  const shown = ({ apiVersion: _version, kind: _kind, metadata: _metadata, ...rest }: ApiObject): object =>
    rest;
  const present = resource.objectOf(cached);
  const labelled = Object.entries(labels).every(
    ([label, value]) => present.metadata.labels?.[label] === value,
  );
  if (labelled && isDeepStrictEqual(shown(present), await contentOf())) return;
  const transform = async (old: ApiObject | undefined): Promise<ApiObject> => {
    const { apiVersion, kind, metadata } = old!;
    return {
      apiVersion,
      kind,
      metadata: { ...metadata, labels: { ...metadata.labels, ...labels } },
      ...(await contentOf()),
    };
  };
  await update(server.writer.request(endpoint, "default"), name, { transform });
}
