import assert from "node:assert/strict";
import { test } from "node:test";
import { type UserNamespace, namespaceMode } from "#cri";
import { dialects } from "#dialect";
import type { ContainerContribution } from "../interfaces.ts";
import { samplePod } from "../pod.fixture.ts";
import { containerConfig } from "./container-config.ts";

const configWith = (contributions: readonly ContainerContribution[], users?: UserNamespace) =>
  containerConfig(
    samplePod(),
    { name: "c", image: "i", resources: {} },
    {
      dialect: dialects.orch,
      imageId: "sha256:1",
      imageUser: { username: "" },
      restartCount: 0,
      environment: new Map([["OWN", "1"]]),
      mounts: [{ containerPath: "/a", hostPath: "/b" }],
      contributions,
      cpu: { quota: true, periodMicroseconds: 100_000 },
      memoryCapacityBytes: 1024 ** 3,
      hugePageSizes: [],
      security: { dialect: dialects.orch, seccompDefault: false, seccompFolder: "/none" },
      users,
    },
  );

test("resource managers add processors, devices, variables, mounts and annotations to a container", () => {
  const config = configWith([
    { resources: { cpusetCpus: "0-1" }, annotations: { "cdi/a": "x" } },
    {
      resources: { cpusetMems: "0" },
      devices: [{ containerPath: "/dev/x", hostPath: "/dev/x", permissions: "rw" }],
      cdiDevices: ["vendor/gpu=0"],
      environment: { GPU: "0", OWN: "2" },
      mounts: [{ containerPath: "/lib", hostPath: "/opt/lib" }],
    },
  ]);
  assert.deepEqual([config.linux?.resources?.cpusetCpus, config.linux?.resources?.cpusetMems], ["0-1", "0"]);
  assert.deepEqual(config.devices, [{ containerPath: "/dev/x", hostPath: "/dev/x", permissions: "rw" }]);
  assert.deepEqual(config.cdiDevices, [{ name: "vendor/gpu=0" }]);
  assert.deepEqual(config.envs, [
    { key: "GPU", value: "0" },
    { key: "OWN", value: "1" },
  ]);
  assert.deepEqual(
    config.mounts?.map(({ containerPath }) => containerPath),
    ["/a", "/lib"],
  );
  assert.equal(config.annotations?.["cdi/a"], "x");
});

test("a pod's user namespace applies to its containers and to the files of its volumes", () => {
  const mapping = [{ hostId: 65_536, containerId: 0, length: 65_536 }];
  const users = { mode: namespaceMode.pod, uids: mapping, gids: mapping };
  const { linux, mounts } = configWith([], users);
  assert.deepEqual(linux?.securityContext?.namespaceOptions?.usernsOptions, users);
  assert.deepEqual(mounts, [
    { containerPath: "/a", hostPath: "/b", uidMappings: mapping, gidMappings: mapping },
  ]);
  const shared = configWith([], { mode: namespaceMode.node });
  assert.deepEqual(shared.mounts, [{ containerPath: "/a", hostPath: "/b" }]);
  assert.equal(configWith([]).linux?.securityContext?.namespaceOptions?.usernsOptions, undefined);
});
