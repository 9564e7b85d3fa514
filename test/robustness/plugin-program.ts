// A process to be killed: a device plugin with many devices, and a storage driver that binds a directory.
// Arguments: the agent's root directory, and the directory that is bound. Prints "open" when both are
// announced.
import { execFile } from "node:child_process";
import { mkdir, readFile, rm } from "node:fs/promises";
import { promisify } from "node:util";
import { type GrpcProcedure, streamingProcedure, unaryProcedure } from "#http";
import { type NodePlugin, announcePlugin } from "#kit";
import { csiNodeService, devicePlugin } from "#nodeagent";

const run = promisify(execFile);
const [rootDir, data] = process.argv.slice(2) as [string, string];
const devices = Array.from({ length: 100 }, (_, index) => ({ ID: `d${index}`, health: "Healthy" }));
const isMounted = async (path: string): Promise<boolean> =>
  (await readFile("/proc/self/mountinfo", "utf8")).includes(` ${path} `);

const announce = (
  type: NodePlugin["type"],
  name: string,
  version: string,
  procedures: readonly GrpcProcedure[],
): Promise<unknown> => announcePlugin(rootDir, { type, name, version, procedures });

await announce("DevicePlugin", "example.com/dev", "v1beta1", [
  unaryProcedure(devicePlugin.options.serve, () => ({})),
  streamingProcedure(devicePlugin.listAndWatch.serve, async function* (_, { signal }) {
    yield { devices };
    await new Promise((resolve) => signal.addEventListener("abort", resolve));
  }),
  unaryProcedure(devicePlugin.allocate.serve, ({ containerRequests }) => ({
    containerResponses: containerRequests.map(({ devicesIds }) => ({
      envs: { DEVICES: devicesIds.join(",") },
      mounts: [],
      devices: [],
      annotations: {},
      cdiDevices: [],
    })),
  })),
]);
// Every call may be repeated, also to a driver that has been restarted.
await announce("CSIPlugin", "bind.example.com", "1.0.0", [
  unaryProcedure(csiNodeService.info.serve, () => ({ nodeId: "me" })),
  unaryProcedure(csiNodeService.capabilities.serve, () => ({ capabilities: [] })),
  unaryProcedure(csiNodeService.publish.serve, async ({ targetPath }) => {
    await mkdir(targetPath, { recursive: true });
    if (!(await isMounted(targetPath))) await run("mount", ["--bind", data, targetPath]);
    return {};
  }),
  unaryProcedure(csiNodeService.unpublish.serve, async ({ targetPath }) => {
    if (await isMounted(targetPath)) await run("umount", [targetPath]);
    await rm(targetPath, { recursive: true, force: true });
    return {};
  }),
]);
console.log("open");
