// The API server of test harnesses: uses the original's dialect, keeps data in memory if the store is only a
// stand-in, and runs a few controllers on request.
import { once } from "node:events";
import { type IncomingMessage, get } from "node:http";
import { text } from "node:stream/consumers";
import { systemClock } from "#base";
import { apiClient, inProcess } from "#client";
import { originalDialect } from "#dialect";
import { type StartedApiserver, runApiserver } from "../apiserver-program.ts";
import { standInVersion } from "./store-stand-in.ts";
import { controllersVariable } from "./variables.ts";

const dialect = originalDialect;

export async function envtestApiserver(args: readonly string[]): Promise<number> {
  // A test that ends should not wait for its open watches.
  const ending = "--shutdown-watch-termination-grace-period=1s";
  const flags = [`--dialect=${dialect.name}`, ending, ...(await withoutStandIn(args))];
  const controllers = process.env[controllersVariable] === "1";
  return await runApiserver(flags, controllers ? runControllers : undefined);
}

/** The flag that lists the store's servers, in the dialect's spelling. */
const storeFlag = `--${dialect.spelling.flag("store-servers")}`;

/** Returns the flags with a stand-in store replaced by memory; a real store is kept. */
async function withoutStandIn(args: readonly string[]): Promise<readonly string[]> {
  const at = args.findIndex((arg) => arg === storeFlag || arg.startsWith(`${storeFlag}=`));
  if (at < 0) return args;
  const joined = args[at]!.includes("=");
  const address = joined ? args[at]!.slice(storeFlag.length + 1) : (args[at + 1] ?? "");
  if (!(await isStandIn(address))) return args;
  return [...args.slice(0, at), `${storeFlag}=memory://`, ...args.slice(at + (joined ? 1 : 2))];
}

async function isStandIn(address: string): Promise<boolean> {
  if (!address.startsWith("http://")) return false;
  try {
    const { etcdserver } = JSON.parse(await textFrom(`${address.split(",")[0]}/version`)) as {
      etcdserver?: string;
    };
    return etcdserver === standInVersion;
  } catch {
    return false;
  }
}

/** Fetches without fetch(), whose client takes longer to load than the stand-in to start. */
async function textFrom(url: string): Promise<string> {
  const request = get(url, { agent: false, signal: AbortSignal.timeout(2000) });
  const [response] = (await once(request, "response")) as [IncomingMessage];
  return await text(response);
}

const enabled = ["namespace", "garbagecollector"];

/** Runs controllers in the server's process; resolves when they have stopped. */
async function runControllers({ server, log }: StartedApiserver, signal: AbortSignal): Promise<void> {
  const [{ clusterView }, { runControllerManager }] = await Promise.all([
    import("#controllerkit"),
    import("#controllers"),
  ]);
  const transport = inProcess(server.handle, { name: "system:admin", groups: ["system:masters"] });
  const base = { client: apiClient(transport, dialect), clock: systemClock, signal, dialect };
  const view = clusterView({ ...base, log });
  await runControllerManager({ ...base, view, log: log.with({ part: "controllers" }), enabled });
}
