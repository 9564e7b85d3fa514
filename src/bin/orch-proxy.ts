// The proxy program: reads the flags and maintains the packet filter until a stop is requested, or cleans it
// up.
import { clientProgram } from "./control/client-program.ts";
import { proxyOptions } from "./control/network-options.ts";
import { cleanUpProxy, proxyWork } from "./control/proxy-work.ts";
import { notifyReady } from "./up/channel.ts";

process.exitCode = await clientProgram(
  process.argv.slice(2),
  proxyOptions,
  (settings) => (parts) => proxyWork(settings, parts, notifyReady),
  { standalone: (settings) => (settings.cleanup ? cleanUpProxy(settings) : undefined) },
);
