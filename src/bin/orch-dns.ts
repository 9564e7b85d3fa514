// The name server's program: read the flags, listen, answer until told to stop.
import { parseUpstream, startDns } from "#dns";
import { clientProgram } from "./control/client-program.ts";
import { dnsOptions } from "./control/network-options.ts";
import { tellSupervisor } from "./up/channel.ts";

process.exitCode = await clientProgram(process.argv.slice(2), dnsOptions, (values) => async (parts) => {
  const server = await startDns({
    ...parts,
    settings: {
      addresses: values.listenAddress,
      port: values.dnsPort,
      domain: values.clusterDomain,
      ttlSeconds: Math.round(values.ttl / 1000),
      allowed: values.allowFrom,
      upstreams: values.upstream.map((each) => parseUpstream(each)!),
      resolverFile: values.resolvConf,
      timeoutMilliseconds: values.upstreamTimeout,
      cacheBytes: values.cacheBytes,
    },
  });
  tellSupervisor({ ready: "" });
  await new Promise<void>((resolve) =>
    parts.signal.addEventListener("abort", () => resolve(), { once: true }),
  );
  await server.close();
});
