import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import type { Pod } from "#api";
import { silentLog, virtualClock } from "#base";
import { fakeApi } from "../fake-api.fixture.ts";
import { referencedObjects, referencesOf } from "./referenced-objects.ts";

const path = "/api/v1/namespaces/ns/configmaps/m";
const pod = {
  metadata: { name: "p", namespace: "ns", uid: "u" },
  spec: { containers: [{ name: "c", envFrom: [{ configMapRef: { name: "m" } }] }] },
} as unknown as Pod;
const turns = async (): Promise<void> => {
  for (let turn = 0; turn < 30; turn++) await new Promise((resolve) => setImmediate(resolve));
};

function setUp(t: TestContext, strategy: "Get" | "Cache" | "Watch") {
  const clock = virtualClock();
  const api = fakeApi();
  const changed: string[] = [];
  const objects = referencedObjects({
    client: api.client,
    clock,
    log: silentLog,
    strategy,
    onChange: (uids) => void changed.push(...uids),
  });
  t.after(() => objects.close());
  const put = (value: string): Promise<unknown> => {
    const object = { metadata: { name: "m", namespace: "ns" }, data: { a: value } };
    return api.objects.has(path)
      ? api.client.request("PUT", path, object)
      : api.client.request("POST", path.replace(/\/m$/, ""), object);
  };
  const read = async (): Promise<string | undefined> => (await objects.configMap("ns", "m"))?.data?.["a"];
  const gets = (): number => api.requests.filter((line) => line === `GET ${path}`).length;
  return { clock, objects, put, read, gets, changed };
}

test("the strategy Get requests the object each time", async (t) => {
  const { objects, put, read, gets } = setUp(t, "Get");
  await put("1");
  objects.watch(pod);
  assert.equal(await read(), "1");
  await put("2");
  assert.deepEqual([await read(), gets()], ["2", 2]);
});

test("the strategy Cache keeps an object until it expires", async (t) => {
  const { clock, objects, put, read, gets } = setUp(t, "Cache");
  await put("1");
  objects.watch(pod);
  await read();
  await put("2");
  assert.deepEqual([await read(), gets()], ["1", 1]);
  await clock.advance(60_000);
  assert.deepEqual([await read(), gets()], ["2", 2]);
});

test("the strategy Watch serves from its cache and reports the pods affected by a change", async (t) => {
  const { objects, put, read, gets, changed } = setUp(t, "Watch");
  await put("1");
  objects.watch(pod);
  await turns();
  assert.equal(await read(), "1");
  changed.length = 0;
  await put("2");
  await turns();
  assert.deepEqual([await read(), gets(), new Set(changed)], ["2", 0, new Set(["u"])]);
});

test("every config map and secret a pod references is found once", () => {
  const named = {
    spec: {
      containers: [
        {
          name: "c",
          envFrom: [{ secretRef: { name: "s1" } }],
          env: [{ name: "E", valueFrom: { configMapKeyRef: { name: "m1", key: "k" } } }],
        },
      ],
      volumes: [
        { name: "v", configMap: { name: "m1" } },
        { name: "w", projected: { sources: [{ secret: { name: "s2" } }, { configMap: { name: "m2" } }] } },
      ],
      imagePullSecrets: [{ name: "s3" }],
    },
  } as unknown as Pod;
  assert.deepEqual(
    referencesOf(named).map(([sort, name]) => `${sort}/${name}`),
    ["configmaps/m1", "secrets/s1", "secrets/s2", "configmaps/m2", "secrets/s3"],
  );
});
