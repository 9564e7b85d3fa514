// A node's proxy and DNS server in one process, for small nodes: a second Node process takes more memory than
// either of them. A failing part is restarted without affecting the other.
import { type ClientProgramParts, clientProgram } from "./control/client-program.ts";
import { dnsWork } from "./control/dns-work.ts";
import { keepRunning } from "./control/keep-running.ts";
import { type NetworkProgramSettings, networkOptions } from "./control/network-options.ts";
import { cleanUpProxy, proxyWork } from "./control/proxy-work.ts";
import { notifyReady, notifySupervisor } from "./up/channel.ts";

type NetworkWork = (
  settings: NetworkProgramSettings,
  parts: ClientProgramParts,
  ready: () => void,
) => Promise<void>;

process.exitCode = await clientProgram(
  process.argv.slice(2),
  networkOptions,
  (settings) => async (parts) => {
    const unready = new Set<string>();
    const run = async (name: string, work: NetworkWork): Promise<void> => {
      unready.add(name);
      const ready = (): void => {
        unready.delete(name);
        if (unready.size === 0) notifyReady();
      };
      await keepRunning(
        name,
        parts,
        (attempt) => work(settings, attempt, ready),
        (why) => {
          unready.add(name);
          notifySupervisor({ phase: `${name}: ${why}` });
        },
      );
    };
    await Promise.all([run("proxy", proxyWork), run("name server", dnsWork)]);
  },
  { standalone: (settings) => (settings.cleanup ? cleanUpProxy(settings) : undefined) },
);
