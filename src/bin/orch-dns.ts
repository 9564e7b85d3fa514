// The name server's program: read the flags, listen, answer until told to stop.
import { clientProgram } from "./control/client-program.ts";
import { dnsWork } from "./control/dns-work.ts";
import { dnsOptions } from "./control/network-options.ts";
import { tellReady } from "./up/channel.ts";

process.exitCode = await clientProgram(
  process.argv.slice(2),
  dnsOptions,
  (settings) => (parts) => dnsWork(settings, parts, tellReady),
);
