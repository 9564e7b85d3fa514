import assert from "node:assert/strict";
import { test } from "node:test";
import { virtualClock } from "#base";
import type { ApiClient } from "#client";
import { dialects } from "#dialect";
import type { SeenPod } from "../node-info.ts";
import { bindVolumes } from "./bind-volumes.ts";
import type { VolumeView } from "./volume-view.ts";

test("a pod does not wait for a volume whose provisioner has given the node up", async () => {
  const dialect = dialects.orch;
  const { selectedNode } = dialect.names.annotations;
  const clock = virtualClock();
  let annotations: Record<string, string> = {};
  const claim = () => ({ metadata: { name: "data", namespace: "n", annotations }, spec: {} });
  const client = {
    dialect,
    of: () => ({
      patch: async (
        _name: string,
        _type: string,
        patch: { metadata: { annotations: typeof annotations } },
      ) => {
        ({ annotations } = patch.metadata);
        return claim();
      },
    }),
  } as unknown as ApiClient;
  const volumes = { claim } as unknown as VolumeView;
  const pod = { metadata: { name: "p", namespace: "n" } } as unknown as SeenPod;
  const decision = { bind: [], provision: ["data"] };
  const options = { client, clock, signal: new AbortController().signal, volumes };
  let failure = "";
  const bound = bindVolumes(options, pod, "n1", decision).catch((error: Error) => (failure = error.message));
  const pass = async (): Promise<void> => {
    for (let step = 0; step < 10; step++) await clock.advance(100);
  };
  await pass();
  assert.equal(annotations[selectedNode], "n1");
  assert.equal(failure, "");
  annotations = {};
  await pass();
  assert.equal(failure, 'provisioning failed for PVC "data"');
  await bound;
});
