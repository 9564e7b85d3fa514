import { test } from "node:test";
import assert from "node:assert/strict";
import { mkdtemp, rm } from "node:fs/promises";
import { type IncomingHttpHeaders, type ServerHttp2Stream, createServer } from "node:http2";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { ContainerRuntime } from "../runtime.ts";
import { grpcRuntime } from "./grpc-runtime.ts";

const sandbox = { metadata: { name: "p" } };
/**
 * The timeout of each call in seconds, as recorded from the reference; undefined for calls without a timeout.
 * In the reference, stats calls of containers and images have none; here they have one, since otherwise a
 * single lost response would leave the node without stats forever.
 */
const limits: [
  call: string,
  make: (runtime: ContainerRuntime) => Promise<unknown>,
  seconds: number | undefined,
][] = [
  ["Version", (runtime) => runtime.version(), 120],
  ["Status", (runtime) => runtime.status(), 120],
  ["UpdateRuntimeConfig", (runtime) => runtime.updateRuntimeConfig({}), 120],
  ["RunPodSandbox", (runtime) => runtime.runPodSandbox(sandbox), 240],
  ["StopPodSandbox", (runtime) => runtime.stopPodSandbox("s"), 120],
  ["RemovePodSandbox", (runtime) => runtime.removePodSandbox("s"), 120],
  ["PodSandboxStatus", (runtime) => runtime.podSandboxStatus("s"), 120],
  ["ListPodSandbox", (runtime) => runtime.listPodSandboxes(), 120],
  ["CreateContainer", (runtime) => runtime.createContainer("s", {}, sandbox), 120],
  ["StartContainer", (runtime) => runtime.startContainer("c"), 120],
  ["StopContainer", (runtime) => runtime.stopContainer("c", 30), 150],
  ["RemoveContainer", (runtime) => runtime.removeContainer("c"), 120],
  ["ListContainers", (runtime) => runtime.listContainers(), 120],
  ["ContainerStatus", (runtime) => runtime.containerStatus("c"), 120],
  ["UpdateContainerResources", (runtime) => runtime.updateContainerResources("c", {}), 120],
  ["ReopenContainerLog", (runtime) => runtime.reopenContainerLog("c"), 120],
  ["CheckpointContainer", (runtime) => runtime.checkpointContainer("c", "/file", 10), 120],
  ["CheckpointContainer", (runtime) => runtime.checkpointContainer("c", "/file", 300), 300],
  ["ExecSync", (runtime) => runtime.execSync("c", ["true"], 2), 122],
  ["ExecSync", (runtime) => runtime.execSync("c", ["true"], 0), undefined],
  ["Exec", (runtime) => runtime.exec({}), 120],
  ["Attach", (runtime) => runtime.attach({}), 120],
  ["PortForward", (runtime) => runtime.portForward("s", [80]), 120],
  ["ContainerStats", (runtime) => runtime.containerStats("c"), 120],
  ["ListContainerStats", (runtime) => runtime.listContainerStats(), 240],
  ["PodSandboxStats", (runtime) => runtime.podSandboxStats("s"), 120],
  ["ListPodSandboxStats", (runtime) => runtime.listPodSandboxStats(), 120],
  ["ListMetricDescriptors", (runtime) => runtime.listMetricDescriptors(), 120],
  ["ListPodSandboxMetrics", (runtime) => runtime.listPodSandboxMetrics(), 120],
  ["ListImages", (runtime) => runtime.listImages(), 120],
  ["ImageStatus", (runtime) => runtime.imageStatus({ image: "i" }), 120],
  ["PullImage", (runtime) => runtime.pullImage({ image: "i" }), undefined],
  ["RemoveImage", (runtime) => runtime.removeImage({ image: "i" }), 120],
  ["ImageFsInfo", (runtime) => runtime.imageFsInfo(), 240],
];

test("every call has its timeout, and images can be managed at another endpoint", async (t) => {
  const folder = await mkdtemp(join(tmpdir(), "orch-cri-"));
  const received: {
    readonly service: string;
    readonly call: string;
    readonly milliseconds: number | undefined;
    readonly on: string;
  }[] = [];
  const listen = async (name: string): Promise<string> => {
    const server = createServer().on("stream", (stream: ServerHttp2Stream, headers: IncomingHttpHeaders) => {
      stream.on("error", () => {});
      const [, service = "", call = ""] =
        /^\/runtime\.v1\.(\w+)\/(\w+)$/.exec(String(headers[":path"])) ?? [];
      const timeout = headers["grpc-timeout"];
      received.push({
        service,
        call,
        milliseconds: timeout === undefined ? undefined : Number(String(timeout).replace(/m$/, "")),
        on: name,
      });
      stream.respond(
        { ":status": 200, "content-type": "application/grpc", "grpc-status": "12" },
        { endStream: true },
      );
    });
    await new Promise<void>((resolve) => server.listen(join(folder, name), resolve));
    t.after(() => server.close());
    return `unix://${join(folder, name)}`;
  };
  const runtime = grpcRuntime({
    endpoint: await listen("containers"),
    imageEndpoint: await listen("images"),
  });
  t.after(async () => {
    runtime.close();
    await rm(folder, { recursive: true });
  });
  for (const [call, make, seconds] of limits) {
    await assert.rejects(make(runtime), { code: "UNIMPLEMENTED" }, call);
    const last = received.at(-1)!;
    assert.deepEqual([last.call, last.on], [call, last.service === "ImageService" ? "images" : "containers"]);
    if (seconds === undefined) assert.equal(last.milliseconds, undefined, call);
    else
      assert.ok(
        last.milliseconds! > seconds * 1000 - 5000 && last.milliseconds! <= seconds * 1000,
        `${call} was given ${last.milliseconds} ms`,
      );
  }
  assert.equal(received.length, limits.length);
  assert.deepEqual(
    new Set(received.filter(({ on }) => on === "images").map(({ call }) => call)),
    new Set(["ListImages", "ImageStatus", "PullImage", "RemoveImage", "ImageFsInfo"]),
  );
});
