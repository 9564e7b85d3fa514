import assert from "node:assert/strict";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { silentLog, systemClock } from "#base";
import { GrpcError, grpcServer, unaryProcedure } from "#http";
import { csiDrivers } from "./drivers.ts";
import { csiNodeService } from "./messages.ts";

test("each call of a driver is reported with its gRPC status", async (t) => {
  const folder = await mkdtemp(join(tmpdir(), "csi-"));
  const socketPath = join(folder, "csi.sock");
  const server = await grpcServer({
    socketPath,
    procedures: [
      unaryProcedure(csiNodeService.info.serve, () => ({ nodeId: "n", maxVolumesPerNode: 0 })),
      unaryProcedure(csiNodeService.unpublish.serve, () => {
        throw new GrpcError("NOT_FOUND", "no such volume");
      }),
    ],
  });
  const reported: string[] = [];
  const drivers = csiDrivers({
    clock: systemClock,
    log: silentLog,
    pluginName: "csi",
    registry: undefined,
    onCall: ({ driver, method, status }) => void reported.push(`${driver} ${method} ${status}`),
  });
  t.after(async () => {
    drivers.close();
    await server.close();
    await rm(folder, { recursive: true });
  });
  const plugin = { type: "CSIPlugin", name: "d.test", endpoint: socketPath, supportedVersions: ["1.0.0"] };
  await drivers.handler.register(plugin, new AbortController().signal);
  const request = { volumeId: "v", targetPath: "/t" };
  await assert.rejects(drivers.get("d.test").call(csiNodeService.unpublish, request));
  assert.deepEqual(reported, [
    "d.test /csi.v1.Node/NodeGetInfo OK",
    "d.test /csi.v1.Node/NodeUnpublishVolume NotFound",
  ]);
});
