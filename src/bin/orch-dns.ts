// The DNS program: reads the flags, listens, and answers until a stop is requested.
import { clientProgram } from "./control/client-program.ts";
import { dnsWork } from "./control/dns-work.ts";
import { dnsOptions } from "./control/network-options.ts";
import { notifyReady } from "./up/channel.ts";

process.exitCode = await clientProgram(
  process.argv.slice(2),
  dnsOptions,
  (settings) => (parts) => dnsWork(settings, parts, notifyReady),
);
