// The work of the DNS program: listens and answers until a stop is requested.
import { parseUpstream, startDns } from "#dns";
import type { ClientProgramParts } from "./client-program.ts";
import type { DnsProgramSettings } from "./network-options.ts";

/** Runs until the signal aborts; `ready` is called when the server listens. */
export async function dnsWork(
  settings: DnsProgramSettings,
  parts: ClientProgramParts,
  ready: () => void,
): Promise<void> {
  const server = await startDns({
    ...parts,
    settings: {
      addresses: settings.listenAddress,
      port: settings.dnsPort,
      domain: settings.clusterDomain,
      ttlSeconds: Math.round(settings.ttl / 1000),
      allowed: settings.allowFrom,
      upstreams: settings.upstream.map((each) => parseUpstream(each)!),
      resolverFile: settings.resolvConf,
      timeoutMilliseconds: settings.upstreamTimeout,
      cacheBytes: settings.cacheBytes,
    },
  });
  ready();
  await new Promise<void>((resolve) =>
    parts.signal.addEventListener("abort", () => resolve(), { once: true }),
  );
  await server.close();
}
