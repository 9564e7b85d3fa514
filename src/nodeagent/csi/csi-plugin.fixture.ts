// Pod volumes with a fake CSI driver.
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { TestContext } from "node:test";
import { silentLog } from "#base";
import { dialects } from "#dialect";
import { GrpcError } from "#http";
import { setUp } from "../volumes/volumes.fixture.ts";
import { csiAttachments } from "./attachments.ts";
import { csiPlugin } from "./csi-plugin.ts";
import type { CsiDriver, CsiDrivers } from "./drivers.ts";
import { nodeCapability } from "./messages.ts";

const dialect = dialects.orch;
const storage = `/apis/storage.${dialect.wire.groupSuffix}/v1`;
export const capacity = (storageSize: string) => ({ storage: storageSize });

/** Sets up pod volumes with a fake driver that records its calls. */
export async function begin(
  t: TestContext,
  { can = [nodeCapability.stage] as readonly number[], byController = true, recovers = false } = {},
) {
  const environment = await setUp(t);
  const { folder, api, clock, mounter, events } = environment;
  const calls: { readonly method: string; readonly request: Record<string, unknown> }[] = [];
  const state = {
    error: undefined as string | undefined,
    expandError: undefined as string | undefined,
    canExpandInUse: true,
    isRegistered: true,
  };
  const driver: CsiDriver = {
    name: "d.test",
    can: async (capability) => can.includes(capability),
    call: async (method, request) => {
      const name = method.call.path.split("/Node").at(-1)!;
      if (state.error !== undefined) throw new GrpcError("INTERNAL", state.error);
      if (name === "ExpandVolume" && state.expandError !== undefined)
        throw new GrpcError("INTERNAL", state.expandError);
      const given = request as unknown as Record<string, unknown>;
      calls.push({ method: name, request: given });
      if (name === "ExpandVolume" && !state.canExpandInUse)
        throw new GrpcError("FAILED_PRECONDITION", "volume in use");
      const target = given["targetPath"] as string;
      if (name === "PublishVolume" && "block" in (given["volumeCapability"] as object))
        await writeFile(target, "");
      else if (name === "PublishVolume") {
        await mkdir(target, { recursive: true });
        mounter.points.push(target);
      }
      if (name === "UnpublishVolume") mounter.points.splice(mounter.points.indexOf(target), 1);
      return (
        name === "GetVolumeStats" ? { usage: [{ unit: 1, total: 10, available: 7, used: 3 }] } : {}
      ) as never;
    },
  };
  const drivers: CsiDrivers = {
    has: (name) => name === driver.name && state.isRegistered,
    get: (name) => {
      if (name === driver.name && state.isRegistered) return driver;
      throw new Error(`driver name ${name} not found in the list of registered CSI drivers`);
    },
    handler: undefined as never,
    close: () => undefined,
  };
  const aPlugin = () =>
    csiPlugin({
      dialect,
      log: silentLog,
      events: { event: ({ kind }, _, reason, message) => void events.push(`${kind} ${reason}: ${message}`) },
      client: api.client,
      drivers,
      attachments: csiAttachments({ client: api.client, clock, nodeName: "n1", byController }),
      mounter,
      tokens: { request: async () => ({ token: "t", expirationTimestamp: "2024-01-01T01:00:00Z" }) },
      nodeName: "n1",
      recovers,
      podsFolder: join(folder, "pods"),
      pluginFolder: join(folder, "plugins", "csi"),
    });
  const plugin = aPlugin();
  const volumes = environment.anAgent({ plugins: [plugin] });
  const named = (path: string, kind: string, object: object): void =>
    void api.objects.set(path, {
      kind,
      ...object,
      metadata: { ...(object as { metadata?: object }).metadata, name: path.split("/").at(-1), uid: "x" },
    });
  const driverObject = (spec: object): void => named(`${storage}/csidrivers/d.test`, "CSIDriver", { spec });
  /** Adds a bound claim named `c`. */
  const claimed = (spec: object = {}, size = "1Gi", known = "1Gi", status: object = {}): void => {
    const claim = "/api/v1/namespaces/ns/persistentvolumeclaims/c";
    named(claim, "PersistentVolumeClaim", {
      metadata: { namespace: "ns" },
      spec: { volumeName: "pv1" },
      status: { phase: "Bound", capacity: capacity(known), ...status },
    });
    named("/api/v1/persistentvolumes/pv1", "PersistentVolume", {
      spec: {
        csi: { driver: "d.test", volumeHandle: "h1", fsType: "ext4", volumeAttributes: { a: "b" } },
        claimRef: { uid: "x" },
        accessModes: ["ReadWriteOnce"],
        capacity: capacity(size),
        ...spec,
      },
    });
  };
  const called = (): string[] => calls.map(({ method }) => method);
  return { ...environment, volumes, plugin, aPlugin, calls, called, state, driverObject, claimed, driver };
}
