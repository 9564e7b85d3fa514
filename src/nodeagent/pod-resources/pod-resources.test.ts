import assert from "node:assert/strict";
import { test } from "node:test";
import { virtualClock } from "#base";
import { dialects } from "#dialect";
import type { GrpcError } from "#http";
import { protobufCodec } from "#schema";
import { podOf } from "../managers/managers.fixture.ts";
import { AllocatableResponse, GetRequest, ListResponse } from "./messages.ts";
import { podResourcesProcedures } from "./pod-resources.ts";
import { requestMetrics } from "./request-metrics.ts";

const block = { numaAffinity: [0], type: "memory", size: 1024 };
const procedures = (allows = { get: false, get_allocatable: true }, clock = virtualClock()) =>
  podResourcesProcedures({
    allows,
    clock,
    socketPath: "",
    pods: () => [podOf("a", [{ name: "c" }]), podOf("b", [{ name: "d" }])],
    exclusive: (uid) => new Set(uid === "a" ? [9, 1] : []),
    memoryBlocks: (uid) => (uid === "a" ? [block] : []),
    devices: (uid) => (uid === "a" ? [{ resource: "example.com/gpu", id: "g1", nodes: [1] }] : []),
    allocatable: () => ({ cpus: new Set([1, 2]), memory: [block], devices: [] }),
  });

async function ask(
  path: string,
  request: Uint8Array = new Uint8Array(),
  given = procedures(),
): Promise<Uint8Array> {
  const procedure = given.find((one) => one.path === path)!;
  for await (const answer of procedure.answer(request, {
    signal: new AbortController().signal,
    metadata: {},
  }))
    return answer;
  throw new Error("no answer");
}

test("every pod is listed with the exclusive resources of its containers", async () => {
  const codec = protobufCodec(ListResponse, { style: "proto3" });
  const { podResources } = codec.decode(await ask("/v1.PodResourcesLister/List")) as {
    podResources: {
      name: string;
      containers: { cpuIds: number[]; memory: object[]; devices: { deviceIds: string[] }[] }[];
    }[];
  };
  assert.deepEqual(
    podResources.map(({ containers }) => containers[0]!.devices.map(({ deviceIds }) => deviceIds)),
    [[["g1"]], []],
  );
  assert.deepEqual(
    podResources.map(({ name, containers }) => [
      name,
      containers[0]!.cpuIds.map(Number),
      containers[0]!.memory.length,
    ]),
    [
      ["a", [1, 9], 1],
      ["b", [], 0],
    ],
  );
});

test("v1alpha1 lists no CPUs", async () => {
  const codec = protobufCodec(ListResponse, { style: "proto3" });
  const { podResources } = codec.decode(await ask("/v1alpha1.PodResourcesLister/List")) as {
    podResources: { containers: { cpuIds: number[] }[] }[];
  };
  assert.deepEqual(podResources[0]!.containers[0]!.cpuIds, []);
});

test("allocatable resources are listed", async () => {
  const codec = protobufCodec(AllocatableResponse, { style: "proto3" });
  const { cpuIds } = codec.decode(await ask("/v1.PodResourcesLister/GetAllocatableResources")) as {
    cpuIds: number[];
  };
  assert.deepEqual(cpuIds.map(Number), [1, 2]);
});

test("Get is served only if enabled", async () => {
  const request = protobufCodec(GetRequest, { style: "proto3" }).encode({
    podName: "a",
    podNamespace: "default",
  });
  const path = "/v1.PodResourcesLister/Get";
  await assert.rejects(ask(path, request), /PodResources API Get method disabled/);
  const open = procedures({ get: true, get_allocatable: true });
  assert.ok((await ask(path, request, open)).length > 0);
  const other = protobufCodec(GetRequest, { style: "proto3" }).encode({ podName: "x", podNamespace: "y" });
  await assert.rejects(ask(path, other, open), /pod x in namespace y not found/);
});

test("GetAllocatableResources is not served if disabled", async () => {
  await assert.rejects(
    ask(
      "/v1.PodResourcesLister/GetAllocatableResources",
      new Uint8Array(),
      procedures({ get: true, get_allocatable: false }),
    ),
    /PodResources API GetAllocatableResources disabled/,
  );
});

test("the rate limit of all methods allows a burst of ten, then 100 requests per second", async () => {
  const clock = virtualClock();
  const limited = procedures({ get: false, get_allocatable: true }, clock);
  const answered = async (): Promise<string> => {
    let count = 0;
    for (let tries = 0; tries < 20; tries++) {
      const path = `/${tries % 2 ? "v1" : "v1alpha1"}.PodResourcesLister/List`;
      try {
        await ask(path, new Uint8Array(), limited);
        count++;
      } catch (error) {
        return `${count} ${(error as GrpcError).code} ${(error as Error).message}`;
      }
    }
    return "all";
  };
  assert.match(await answered(), /^10 RESOURCE_EXHAUSTED .*rejected by rate limit$/);
  await clock.advance(20);
  assert.match(await answered(), /^2 /);
});

test("requests are counted in total and by method; those of disabled methods only in total", () => {
  const counts = new Map<string, number>();
  const counter = ({ name }: { readonly name: string }) => ({
    with: (version: string) => ({
      add: () => void counts.set(`${name} ${version}`, (counts.get(`${name} ${version}`) ?? 0) + 1),
    }),
  });
  const count = requestMetrics({ counter } as never, dialects.kubernetes, {
    get: false,
    get_allocatable: true,
  });
  count("v1", "list", true);
  count("v1", "get", false);
  count("v1alpha1", undefined, true);
  const prefix = "kubelet_pod_resources_endpoint_";
  assert.deepEqual(Object.fromEntries(counts), {
    [`${prefix}requests_total v1`]: 2,
    [`${prefix}requests_total v1alpha1`]: 1,
    [`${prefix}requests_list v1`]: 1,
  });
});
