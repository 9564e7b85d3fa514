import assert from "node:assert/strict";
import { test } from "node:test";
import type { Pod } from "#api";
import { type Log, silentLog, virtualClock } from "#base";
import { Unreachable } from "#client";
import { dialects } from "#dialect";
import { fakeApi } from "../fake-api.fixture.ts";
import { apiSource } from "./api-source.ts";
import { wantedPods } from "./wanted-pods.ts";

const { configMirror } = dialects.orch.names.annotations;
const settle = async (): Promise<void> => {
  for (let turn = 0; turn < 50; turn++) await new Promise((resolve) => setImmediate(resolve));
};

test("an unavailable API server is logged once, and its pods are accepted when it is back", async () => {
  const clock = virtualClock();
  const api = fakeApi();
  const [warnings, calls]: [string[], string[]] = [[], []];
  const log: Log = {
    ...silentLog,
    warn: (message, fields) => void warnings.push(`${message}: ${String(fields?.["error"])}`),
  };
  const wanted = wantedPods({
    dialect: dialects.orch,
    clock,
    sources: ["api"],
    onWanted: (pod) => void calls.push(`wanted ${pod.metadata.name}`),
    onUnwanted: (uid) => void calls.push(`unwanted ${uid}`),
    onReady: () => void calls.push("ready"),
  });
  const pods = "/api/v1/pods";
  const put = (name: string, annotations = {}): Promise<unknown> =>
    api.client.request("POST", pods, {
      metadata: { name, namespace: "n", uid: `uid-${name}`, annotations },
      spec: {},
    });
  await put("web");
  await put("shadow", { [configMirror]: "x" });
  api.requests.length = 0;
  api.answer = () => new Unreachable("nobody there");
  const stop = new AbortController();
  const onMirror = (pod: Pod, gone: boolean): void =>
    void calls.push(`mirror ${pod.metadata.name}${gone ? " gone" : ""}`);
  const source = apiSource({ client: api.client, clock, log, nodeName: "n1", wanted, onMirror }, stop.signal);
  for (let second = 0; second < 10; second++) {
    await settle();
    await clock.advance(1000);
  }
  assert.ok(
    api.requests.length > 1 &&
      api.requests.every((each) => each.includes("fieldSelector=spec.nodeName%3Dn1")),
    "the list is retried, for pods of this node",
  );
  assert.deepEqual([warnings, calls], [["failed to list pods from the API server: nobody there"], []]);
  api.answer = () => undefined;
  await clock.advance(60_000);
  await source.synced;
  await settle();
  assert.deepEqual(calls.splice(0), ["mirror shadow", "wanted web", "ready"]);
  await api.client.request("DELETE", `${pods}/web`);
  await api.client.request("DELETE", `${pods}/shadow`);
  await settle();
  assert.deepEqual(calls, ["unwanted uid-web", "mirror shadow gone"]);
  assert.equal(warnings.length, 1);
  stop.abort();
  await source.stopped;
});

test("pods of the first list are processed in order of creation", async () => {
  const clock = virtualClock();
  const api = fakeApi();
  const calls: string[] = [];
  const wanted = wantedPods({
    dialect: dialects.orch,
    clock,
    sources: ["api"],
    onWanted: (pod) => void calls.push(pod.metadata.name ?? ""),
    onUnwanted: () => undefined,
  });
  for (const [name, second] of [
    ["a", "09"],
    ["b", "08"],
    ["c", "07"],
  ])
    api.objects.set(`/api/v1/pods/${name}`, {
      metadata: {
        name,
        namespace: "n",
        uid: `uid-${name}`,
        resourceVersion: "1",
        creationTimestamp: `2030-01-01T00:00:${second}Z`,
      },
      spec: {},
    });
  const stop = new AbortController();
  const onMirror = (): void => undefined;
  const source = apiSource(
    { client: api.client, clock, log: silentLog, nodeName: "n1", wanted, onMirror },
    stop.signal,
  );
  await source.synced;
  await settle();
  assert.deepEqual(calls, ["c", "b", "a"]);
  stop.abort();
  await source.stopped;
});
