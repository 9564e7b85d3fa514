import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { readFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import type { Pod } from "#api";
import { silentLog, systemClock, virtualClock } from "#base";
import { dialects } from "#dialect";
import { samplePod } from "../pod.fixture.ts";
import { fileSource } from "./file-source.ts";
import { ManifestError, readManifest } from "./static-pod.ts";
import { urlSource } from "./url-source.ts";
import { wantedPods } from "./wanted-pods.ts";

const dialect = dialects.orch;
const manifest = (name = "web", image = "busybox:1"): string =>
  `apiVersion: v1\nkind: Pod\nmetadata: {name: ${name}}\nspec:\n  containers:\n  - {name: c, image: "${image}"}\n`;
const read = (text: string, origin = "/m/web.yaml", isFile = true): Pod[] =>
  readManifest(text, { dialect, nodeName: "n1", origin, isFile });

test("a manifest yields a pod of this node, with defaults and its own uid", () => {
  const [pod] = read(manifest());
  assert.equal(pod?.metadata.name, "web-n1");
  assert.equal(pod?.metadata.namespace, "default");
  assert.equal(pod?.spec.nodeName, "n1");
  assert.match(pod?.metadata.uid ?? "", /^[0-9a-f]{32}$/);
  assert.equal(pod?.metadata.annotations?.[dialect.names.annotations.configHash], pod?.metadata.uid);
  assert.deepEqual(
    [pod?.spec.restartPolicy, pod?.spec.dnsPolicy, pod?.spec.terminationGracePeriodSeconds],
    ["Always", "ClusterFirst", 30],
  );
  assert.deepEqual(
    [pod?.spec.containers?.[0]?.imagePullPolicy, pod?.spec.containers?.[0]?.terminationMessagePath],
    ["IfNotPresent", "/dev/termination-log"],
  );
  assert.deepEqual(pod?.spec.tolerations, [{ operator: "Exists", effect: "NoExecute" }]);
});

test("pods of files tolerate every taint that ends pods, once; pods of URLs as written", () => {
  const toleration = { operator: "Exists", effect: "NoExecute" };
  const text = `${manifest()}  tolerations: [{operator: Exists, effect: NoExecute, tolerationSeconds: 5}]\n`;
  assert.deepEqual(read(text)[0]?.spec.tolerations, [toleration]);
  assert.deepEqual(read(manifest(), "http://h/web.yaml", false)[0]?.spec.tolerations, undefined);
});

test("the uid depends on the content and origin of the manifest", () => {
  const uid = (text: string, origin?: string) => read(text, origin)[0]?.metadata.uid;
  assert.equal(uid(manifest()), uid(manifest()));
  assert.notEqual(uid(manifest()), uid(manifest("web", "busybox:2")));
  assert.notEqual(uid(manifest()), uid(manifest(), "/m/other.yaml"));
});

test("a manifest is a pod in YAML or JSON, of which the first document is read; from a URL also a list", () => {
  const ignored: string[] = [];
  const namesOf = (text: string, isFile: boolean) =>
    readManifest(text, {
      dialect,
      nodeName: "n1",
      origin: "/m",
      isFile,
      onIgnored: (message) => ignored.push(message),
    }).map(({ metadata }) => metadata.name);
  assert.deepEqual(namesOf(`---\n${manifest("a")}---\n${manifest("b")}`, true), ["a-n1"]);
  assert.deepEqual(ignored, ["/m: only the first document is read"]);
  const pod = { metadata: { name: "x" }, spec: { containers: [{ name: "c", image: "i" }] } };
  assert.deepEqual(namesOf(JSON.stringify({ apiVersion: "v1", kind: "Pod", ...pod }), true), ["x-n1"]);
  const list = JSON.stringify({ apiVersion: "v1", kind: "PodList", items: [pod] });
  assert.deepEqual(namesOf(list, false), ["x-n1"]);
  assert.throws(() => namesOf(list, true), /expected a Pod, found PodList/);
});

test("an unknown field of a manifest is ignored and reported", () => {
  const ignored: string[] = [];
  const text = manifest().replace("spec:", "spec:\n  containerz: []");
  const pods = readManifest(text, {
    dialect,
    nodeName: "n1",
    origin: "/m",
    isFile: true,
    onIgnored: (message) => ignored.push(message),
  });
  assert.equal(pods.length, 1);
  assert.deepEqual(ignored.length, 1);
  assert.match(ignored[0]!, /^\/m: .*containerz/);
});

test("a volume without a type is an emptyDir", () =>
  assert.deepEqual(read(withSpec("volumes: [{name: v}]"))[0]?.spec.volumes, [{ name: "v", emptyDir: {} }]));

const withSpec = (line: string): string => manifest().replace("spec:", `spec:\n  ${line}`);
const referring = [
  "serviceAccountName: x",
  "imagePullSecrets: [{name: s}]",
  "volumes: [{name: v, configMap: {name: m}}]",
  "volumes: [{name: v, secret: {secretName: s}}]",
  "volumes: [{name: v, persistentVolumeClaim: {claimName: p}}]",
];
for (const line of referring)
  test(`a static pod may refer to API objects: ${line}`, () => assert.equal(read(withSpec(line)).length, 1));

const refused: [name: string, text: string, message: RegExp][] = [
  ["invalid YAML", "a: b: c", /web\.yaml/],
  ["another kind", "apiVersion: v1\nkind: Service\n", /expected a Pod, found Service/],
  ["no kind", "a: 1\n", /found no kind/],
  ["no API version", "kind: Pod\nmetadata: {name: a}\n", /expected apiVersion "v1", found none/],
  ["no content", "# nothing\n", /found no kind/],
  ["no name", manifest('""'), /metadata\.name/],
  [
    "no containers",
    "apiVersion: v1\nkind: Pod\nmetadata: {name: a}\nspec: {containers: []}\n",
    /spec\.containers: Required value/,
  ],
  [
    "a container without an image",
    "apiVersion: v1\nkind: Pod\nmetadata: {name: a}\nspec: {containers: [{name: c}]}\n",
    /has no image/,
  ],
  [
    "two containers with the same name",
    'apiVersion: v1\nkind: Pod\nmetadata: {name: a}\nspec: {containers: [{name: c, image: "i"}, {name: c, image: "i"}]}\n',
    /used twice/,
  ],
  [
    "a token volume without a service account",
    withSpec("volumes: [{name: t, projected: {sources: [{serviceAccountToken: {path: t}}]}}]"),
    /"t": a token needs spec\.serviceAccountName/,
  ],
  [
    "a mount of an undefined volume",
    manifest().replace("image:", "volumeMounts: [{name: nope, mountPath: /x}], image:"),
    /volumeMounts\[0\]\.name: Not found: "nope"/,
  ],
  ["an invalid name", manifest("Web_1"), /metadata\.name/],
];
for (const [name, text, message] of refused)
  test(`a manifest with ${name} is refused`, () =>
    assert.throws(
      () => read(text),
      (error: Error) => error instanceof ManifestError && message.test(error.message),
    ));

test("sources affect only their own pods, and the store is ready once all have synced", () => {
  const notify: string[] = [];
  const wanted = wantedPods({
    dialect,
    clock: virtualClock(),
    sources: ["api", "file"],
    onWanted: ({ metadata }) => void notify.push(`+${metadata.uid}`),
    onUnwanted: (uid) => void notify.push(`-${uid}`),
    onReady: () => void notify.push("ready"),
  });
  const pod = (uid: string, resourceVersion = "1"): Pod => samplePod({}, { uid, name: uid, resourceVersion });
  wanted.put("api", pod("a"));
  wanted.replace("file", [pod("f"), pod("g")]);
  assert.equal(wanted.ready(), false);
  wanted.markSynced("api");
  wanted.replace("file", [pod("g")]);
  wanted.put("api", pod("a"));
  wanted.put("api", pod("a", "2"));
  wanted.drop("api", "a");
  wanted.drop("api", "g");
  assert.deepEqual(notify, ["+a", "+f", "+g", "ready", "-f", "+a", "-a"]);
});

test("of two pods with one name in a source, the second is ignored and reported", () => {
  const notify: string[] = [];
  const wanted = wantedPods({
    dialect,
    clock: virtualClock(),
    sources: ["api", "file"],
    onWanted: ({ metadata }) => void notify.push(`+${metadata.uid}`),
    onUnwanted: (uid) => void notify.push(`-${uid}`),
    onDuplicate: ({ metadata }, source) => void notify.push(`${metadata.uid} of ${source} ignored`),
  });
  const pod = (uid: string, name: string): Pod => samplePod({}, { uid, name, resourceVersion: "1" });
  wanted.replace("file", [pod("f", "a"), pod("g", "a"), pod("h", "b")]);
  wanted.put("api", pod("i", "a"));
  wanted.replace("file", [pod("g", "a")]);
  assert.deepEqual(notify, ["g of file ignored", "+f", "+h", "+i", "-f", "-h", "+g"]);
});

test("pods are annotated with their source and the time they were first seen", async () => {
  const clock = virtualClock(Date.parse("2030-01-01T00:00:00Z"));
  const seen: (string | undefined)[] = [];
  const { configSeen, configSource } = dialect.names.annotations;
  const wanted = wantedPods({
    dialect,
    clock,
    sources: ["api"],
    onWanted: ({ metadata }) =>
      void seen.push(metadata.annotations?.[configSource], metadata.annotations?.[configSeen]),
    onUnwanted: () => undefined,
  });
  wanted.put("api", samplePod({}, { resourceVersion: "1" }));
  await clock.advance(5000);
  wanted.put("api", samplePod({}, { resourceVersion: "2" }));
  assert.deepEqual(seen, ["api", "2030-01-01T00:00:00.000Z", "api", "2030-01-01T00:00:00.000Z"]);
});

test("a directory is followed: new, changed, invalid, hidden and removed files", async () => {
  const folder = mkdtempSync(join(tmpdir(), "orch-static-"));
  const stop = new AbortController();
  const received: string[][] = [];
  let notify = (): void => undefined;
  const problems: string[] = [];
  let unreadable = "";
  const until = async (names: string[]): Promise<void> => {
    while (JSON.stringify(received.at(-1)) !== JSON.stringify(names))
      await new Promise<void>((resolve) => (notify = resolve));
  };
  const onPods = (pods: readonly Pod[]): void => {
    received.push(pods.map(({ metadata, spec }) => `${metadata.name} ${spec.containers?.[0]?.image}`));
    notify();
  };
  const following = fileSource(
    {
      dialect,
      nodeName: "n1",
      path: folder,
      periodMilliseconds: 50,
      clock: systemClock,
      log: silentLog,
      onPods,
      read: (file) =>
        file === unreadable ? Promise.reject(new Error("EIO: i/o error, read")) : readFile(file, "utf8"),
      onProblem: (message) => void problems.push(message),
    },
    stop.signal,
  );
  try {
    await until([]);
    writeFileSync(join(folder, "a.yaml"), manifest("a"));
    writeFileSync(join(folder, ".hidden.yaml"), manifest("hidden"));
    await until(["a-n1 busybox:1"]);
    writeFileSync(join(folder, "a.yaml"), manifest("a", "busybox:2"));
    await until(["a-n1 busybox:2"]);
    writeFileSync(join(folder, "b.yaml"), "kind: Nonsense");
    writeFileSync(join(folder, "c.yaml"), manifest("c"));
    await until(["a-n1 busybox:2", "c-n1 busybox:1"]);
    writeFileSync(join(folder, "a.yaml"), "broken: [");
    writeFileSync(join(folder, "d.yaml"), manifest("d"));
    await until(["a-n1 busybox:2", "c-n1 busybox:1", "d-n1 busybox:1"]);
    unreadable = join(folder, "c.yaml");
    writeFileSync(join(folder, "e.yaml"), manifest("e"));
    await until(["a-n1 busybox:2", "c-n1 busybox:1", "d-n1 busybox:1", "e-n1 busybox:1"]);
    unreadable = "";
    rmSync(join(folder, "e.yaml"));
    rmSync(join(folder, "a.yaml"));
    await until(["c-n1 busybox:1", "d-n1 busybox:1"]);
    assert.ok(problems.some((problem) => problem.includes("b.yaml")));
    assert.equal(problems.filter((problem) => problem.includes("b.yaml")).length, 1);
  } finally {
    stop.abort();
    await following;
    rmSync(folder, { recursive: true });
  }
});

test("a manifest removed and put back at once restarts its pods", async (t) => {
  const folder = mkdtempSync(join(tmpdir(), "orch-static-"));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  const file = join(folder, "a.yaml");
  writeFileSync(file, manifest("a"));
  const stop = new AbortController();
  const received: string[][] = [];
  let notify = Promise.withResolvers<void>();
  const following = fileSource(
    {
      dialect,
      nodeName: "n1",
      path: folder,
      periodMilliseconds: 3600_000,
      clock: systemClock,
      log: silentLog,
      onPods: (pods) => {
        received.push(pods.map(({ metadata }) => metadata.name!));
        notify.resolve();
      },
    },
    stop.signal,
  );
  await notify.promise;
  assert.deepEqual(received, [["a-n1"]]);
  notify = Promise.withResolvers();
  rmSync(file);
  writeFileSync(file, manifest("a"));
  await notify.promise;
  assert.deepEqual(received, [["a-n1"], [], ["a-n1"]]);
  stop.abort();
  await following;
});

test("a URL is fetched with its headers; a failure keeps the previous pods, an empty body removes them", async () => {
  let answer: [number, string] = [200, manifest("u")];
  const requests: (string | undefined)[] = [];
  let raw: readonly string[] = [];
  const server = createServer((request, response) => {
    requests.push(request.headers["x-a"] as string);
    raw = request.rawHeaders;
    response.writeHead(answer[0]).end(answer[1]);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const stop = new AbortController();
  const received: string[][] = [];
  let notify = (): void => undefined;
  const problems: string[] = [];
  const wait = async (done: () => boolean): Promise<void> => {
    while (!done()) await new Promise<void>((resolve) => (notify = resolve));
  };
  const following = urlSource(
    {
      dialect,
      nodeName: "n1",
      url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/x`,
      headers: { "x-a": "b", "x-many": ["2", "1", "3"] },
      periodMilliseconds: 20,
      clock: systemClock,
      log: silentLog,
      onPods: (pods) => {
        received.push(pods.map(({ metadata }) => metadata.name ?? ""));
        notify();
      },
      onProblem: (message) => {
        problems.push(message);
        notify();
      },
    },
    stop.signal,
  );
  try {
    await wait(() => received.length === 1);
    answer = [500, "no"];
    await wait(() => problems.length > 0);
    answer = [200, manifest("v")];
    await wait(() => received.length === 2);
    answer = [200, ""];
    await wait(() => received.length === 3);
    answer = [200, manifest("v")];
    await wait(() => received.length === 4);
    assert.deepEqual(received, [["u-n1"], ["v-n1"], [], ["v-n1"]]);
    assert.match(problems.at(-1)!, /zero-length data received from http/);
    assert.equal(requests[0], "b");
    assert.deepEqual(
      raw.filter((_each, at) => raw[at - 1]?.toLowerCase() === "x-many"),
      ["2", "1", "3"],
      "headers of one name are sent in the order given",
    );
  } finally {
    stop.abort();
    await following;
    server.close();
  }
});
