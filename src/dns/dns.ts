// The cluster DNS server: answers for Services and EndpointSlices, and forwards other names to the machine's
// name servers.
import { randomInt } from "node:crypto";
import { networkInterfaces } from "node:os";
import type { Clock, Log, Metrics } from "#base";
import type { ClusterView } from "#controllerkit";
import type { Dialect } from "#dialect";
import { addressKey, clusterZone } from "./cluster-records.ts";
import { type RunningDnsServer, startDnsServer } from "./dns-server.ts";
import { dnsMetrics } from "./dns-metrics.ts";
import { exchange } from "./exchange.ts";
import { type Upstream, forwarder } from "./forwarder.ts";
import { serviceDirectory } from "./directory.ts";
import { fileUpstreams } from "./resolver-file.ts";
import { resolver } from "./resolver.ts";

export interface DnsSettings {
  readonly addresses: readonly string[];
  readonly port: number;
  readonly domain: string;
  readonly ttlSeconds: number;
  /** CIDRs of clients to answer. */
  readonly allowed: readonly string[];
  /** Upstream name servers; those of the file if empty. */
  readonly upstreams: readonly Upstream[];
  readonly resolverFile: string;
  readonly timeoutMilliseconds: number;
  readonly cacheBytes: number;
}

export interface DnsOptions {
  readonly view: ClusterView;
  readonly dialect: Dialect;
  readonly clock: Clock;
  readonly log: Log;
  readonly metrics: Metrics;
  readonly signal: AbortSignal;
  readonly settings: DnsSettings;
}

// Less than the datagrams that may be pending: names of the cluster are answered whatever waits for upstream servers.
const maxPending = 1000;
const maxPendingPerClient = 256;

/** Starts listening; names of the cluster are answered once its services are listed. */
export async function startDns(options: DnsOptions): Promise<RunningDnsServer> {
  const { clock, log, metrics, signal, settings } = options;
  const view = options.view.scoped();
  const directory = serviceDirectory(view, options.dialect);
  let ready = false;
  void view.synced().then(
    () => {
      ready = true;
      log.info("services listed");
    },
    () => undefined,
  );
  const ownAddressKeys = ownAddresses(settings.addresses);
  const isSelf = ({ address, port }: Upstream): boolean =>
    port === settings.port && ownAddressKeys.has(addressKey(address));
  const fromFile = fileUpstreams(settings.resolverFile, clock, isSelf);
  const given = settings.upstreams.filter((each) => !isSelf(each));
  const upstreams = settings.upstreams.length > 0 ? () => given : fromFile;
  if (upstreams().length === 0) log.warn("no upstream name servers for names outside of the cluster");
  const forward = forwarder({
    upstreams,
    exchange,
    clock,
    signal,
    maxPending,
    maxPendingPerClient,
    timeoutMilliseconds: settings.timeoutMilliseconds,
    cacheBytes: settings.cacheBytes,
  });
  const zone = clusterZone(
    {
      domain: settings.domain.toLowerCase().replace(/\.$/, ""),
      ttl: settings.ttlSeconds,
      serial: Math.floor(clock.now() / 1000),
      addresses: settings.addresses,
    },
    directory,
  );
  let observe: ReturnType<typeof dnsMetrics> = () => undefined;
  const server = await startDnsServer({
    ...settings,
    signal,
    resolve: resolver({
      zone,
      isReady: () => ready,
      forwarder: forward,
      isUpstream: (address) => upstreams().some((each) => addressKey(each.address) === addressKey(address)),
      random: (below) => randomInt(below),
      observe: (query, code) => observe(query, code),
    }),
    onError: (error) => log.warn("a query was not answered", { error: error.message }),
  });
  // Register metrics only now: a caller whose listen failed may retry, and metrics can be registered only
  // once.
  observe = dnsMetrics(metrics, forward);
  log.info("listening", { addresses: settings.addresses.join(","), port: server.port });
  return server;
}

/**
 * Returns the addresses of this server: those it listens on, or all of the machine for wildcard addresses.
 */
function ownAddresses(listening: readonly string[]): ReadonlySet<string> {
  const any = listening.some((each) => each === "0.0.0.0" || each === "::");
  const all = any
    ? Object.values(networkInterfaces()).flatMap((each) => (each ?? []).map(({ address }) => address))
    : [];
  return new Set([...listening, ...all].map(addressKey));
}
