// Volumes of one pod with a fake mounter, a fake API server and a virtual clock; only the directory is real.
import { mkdtemp, readFile, readdir, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { TestContext } from "node:test";
import type { Pod } from "#api";
import { silentLog, virtualClock } from "#base";
import { dialects } from "#dialect";
import { fakeApi } from "../fake-api.fixture.ts";
import { fakeMounter } from "./fake-mounter.fixture.ts";
import { referencedObjects } from "./referenced-objects.ts";
import { type VolumesOptions, podVolumes } from "./volumes.ts";

type Spec = Record<string, unknown>;
/** Returns a pod with one volume, mounted by its only container. */
export const podWith = (volume: object, spec: Spec = {}, metadata: object = {}): Pod =>
  ({
    metadata: { name: "p", namespace: "ns", uid: "u1", labels: { a: "one" }, ...metadata },
    spec: {
      volumes: [{ name: "v", ...volume }],
      containers: [{ name: "c", volumeMounts: [{ name: "v", mountPath: "/v" }] }],
      ...spec,
    },
  }) as unknown as Pod;

export async function setUp(t: TestContext) {
  const folder = await mkdtemp(join(tmpdir(), "volumes-"));
  t.after(() => rm(folder, { recursive: true, force: true }));
  const clock = virtualClock(Date.UTC(2024, 0, 1));
  const api = fakeApi();
  const mounter = fakeMounter();
  const events: string[] = [];
  const changed: string[] = [];
  const counted: string[] = [];
  const objects = referencedObjects({
    client: api.client,
    clock,
    log: silentLog,
    strategy: "Watch",
    onChange: (uids) => void changed.push(...uids),
  });
  t.after(() => objects.close());
  /** Returns the volumes of an agent; each call simulates a newly started agent. */
  const anAgent = (
    more: Partial<Pick<VolumesOptions, "keepTerminated" | "plugins" | "unlimitedMemory">> = {},
  ) =>
    podVolumes({
      ...more,
      dialect: dialects.orch,
      client: api.client,
      clock,
      log: silentLog,
      events: { event: (_, __, reason, message) => void events.push(`${reason}: ${message}`) },
      objects,
      node: { name: "n1", allocatable: () => ({ memory: "1Gi", cpu: "4" }), labels: () => ({ zone: "a" }) },
      mounter,
      volumeMetrics: {
        tried: (operation, plugin, milliseconds, isGood) =>
          void counted.push(`${operation} ${plugin} ${milliseconds} ${isGood ? "good" : "bad"}`),
        inPlace: (operation, plugin, milliseconds) =>
          void counted.push(`${operation} ${plugin} in place after ${milliseconds}`),
        reconstructed: (isGood) => void counted.push(`found, ${isGood ? "known" : "not known"}`),
        forceCleaned: (isGood) => void counted.push(`taken away unknown, ${isGood ? "good" : "bad"}`),
      },
      podsFolder: join(folder, "pods"),
    });
  const volumes = anAgent();
  const put = (path: string, object: object): Promise<unknown> => api.client.request("POST", path, object);
  const map = (name: string, data: object, more: object = {}): Promise<unknown> =>
    put("/api/v1/namespaces/ns/configmaps", { metadata: { name, namespace: "ns" }, data, ...more });
  const secret = (name: string, data: Record<string, string>): Promise<unknown> =>
    put("/api/v1/namespaces/ns/secrets", {
      metadata: { name, namespace: "ns" },
      data: Object.fromEntries(
        Object.entries(data).map(([key, text]) => [key, Buffer.from(text).toString("base64")]),
      ),
    });
  const mount = async (pod: Pod) => (await volumes.mount(pod, new AbortController().signal)).get("v")!;
  const place = (kind: string, name = "v"): string =>
    join(folder, "pods", "u1", "volumes", `${dialects.orch.data.labelDomain}~${kind}`, name);
  /** Reads the files as seen by a container: path, mode, content. */
  const seen = async (at: string): Promise<Record<string, string>> => {
    const found: Record<string, string> = {};
    for (const name of (await readdir(at, { recursive: true })).filter((path) => !path.startsWith(".."))) {
      const { mode } = await stat(join(at, name));
      if ((await stat(join(at, name))).isFile())
        found[name] = `${(mode & 0o777).toString(8)} ${await readFile(join(at, name), "utf8")}`;
      else
        for (const below of await readdir(join(at, name)))
          found[`${name}/${below}`] =
            `${((await stat(join(at, name, below))).mode & 0o777).toString(8)} ${await readFile(join(at, name, below), "utf8")}`;
    }
    return found;
  };
  return {
    folder,
    clock,
    api,
    mounter,
    events,
    changed,
    counted,
    objects,
    volumes,
    anAgent,
    map,
    secret,
    mount,
    place,
    seen,
  };
}
