import assert from "node:assert/strict";
import { test } from "node:test";
import { harness, on } from "./harness.fixture.ts";
import { condition, made, podOf, states } from "./worker-pods.fixture.ts";

test("a pod runs, becomes ready and is removed when it is deleted", () =>
  on({}, async (h) => {
    h.run(podOf("a", {}, { terminationGracePeriodSeconds: 2 }));
    await h.pass(2);
    assert.equal(h.status("uid-of-a").phase, "Running");
    assert.equal(condition(h, "uid-of-a", "Ready"), "True");
    assert.deepEqual(h.reasons(), ["Pulled", "Created", "Started"]);
    h.delete("uid-of-a", 2);
    await h.pass(5);
    assert.deepEqual(h.deleted, ["uid-of-a"]);
    assert.deepEqual(made(h), [
      "RunPodSandbox",
      "CreateContainer",
      "StartContainer",
      "StopContainer",
      "StopPodSandbox",
      "RemoveContainer",
      "RemovePodSandbox",
    ]);
    assert.equal(h.statuses.get("uid-of-a")?.at(-1)?.phase, "Failed");
  }));

test("a failure to create a pod's cgroup is recorded as an event", () =>
  on({ cgroupError: "no room" }, async (h) => {
    h.run(podOf("a"));
    await h.pass(1);
    assert.deepEqual(
      h.events.map(({ reason, message }) => `${reason}: ${message}`),
      ["FailedCreatePodContainer: unable to ensure pod container exists: no room"],
    );
    assert.deepEqual(made(h), []);
  }));

test("a pod that completes is Succeeded and keeps its container for its log", () =>
  on({}, async (h) => {
    h.run(podOf("a", { command: ["sh", "-c", "echo hi"] }, { restartPolicy: "Never" }));
    await h.pass(3);
    assert.equal(h.status("uid-of-a").phase, "Succeeded");
    assert.equal(states(h, "uid-of-a"), "main:Completed(0):0");
    assert.equal((await h.runtime.listContainers()).length, 1);
    h.delete("uid-of-a", 30);
    await h.pass(1);
    assert.equal((await h.runtime.listContainers()).length, 0);
    assert.deepEqual(h.deleted, ["uid-of-a"]);
  }));

test("a crashing container is restarted with exponential back-off", () =>
  on({}, async (h) => {
    h.run(podOf("a", { command: ["sh", "-c", "exit 3"] }));
    await h.pass(130);
    const starts = h.runtime.calls
      .filter(({ method }) => method === "StartContainer")
      .map(({ atMilliseconds }) =>
        Math.round((atMilliseconds - Date.parse("2030-01-01T00:00:00Z")) / 10_000),
      );
    assert.deepEqual(starts, [0, 0, 1, 3, 7]);
    assert.match(states(h, "uid-of-a"), /main:CrashLoopBackOff:4/);
    assert.equal(h.status("uid-of-a").phase, "Running");
    assert.equal((await h.runtime.listContainers()).length <= 2, true);
  }));

test("a restarted container is reported while the clock is set back", () =>
  on({}, async (h) => {
    h.run(podOf("a"));
    await h.pass(2);
    h.runtime.end((await h.runtime.listContainers())[0]!.id, 1);
    await h.pass(0.5);
    assert.match(states(h, "uid-of-a"), /main:CrashLoopBackOff:0|main:Error\(1\):0/);
    h.clock.set(h.clock.now() - 3_600_000);
    await h.pass(3);
    assert.equal(states(h, "uid-of-a"), "main:running:1");
  }));

test("init containers run in order before the others", () =>
  on({}, async (h) => {
    const init = (name: string) => ({ name, image: "busybox:1", command: ["sh", "-c", "sleep 1"] });
    h.run(podOf("a", {}, { initContainers: [init("one"), init("two")] }));
    await h.pass(1);
    assert.equal(states(h, "uid-of-a"), "one:Completed(0):0 two:running:0 main:PodInitializing:0");
    assert.equal(condition(h, "uid-of-a", "Initialized"), "False");
    await h.pass(4);
    assert.equal(states(h, "uid-of-a"), "one:Completed(0):0 two:Completed(0):0 main:running:0");
  }));

test("a failed init container ends a pod that never restarts", () =>
  on({}, async (h) => {
    h.run(
      podOf(
        "a",
        {},
        { restartPolicy: "Never", initContainers: [{ name: "one", image: "busybox:1", command: ["false"] }] },
      ),
    );
    await h.pass(4);
    assert.equal(h.status("uid-of-a").phase, "Failed");
    assert.equal(h.runtime.calls.filter(({ method }) => method === "CreateContainer").length, 1);
  }));

test("a container that fails its liveness probe is restarted", () =>
  on({}, async (h) => {
    h.run(
      podOf(
        "a",
        { livenessProbe: { exec: { command: ["false"] }, periodSeconds: 1, failureThreshold: 2 } },
        { terminationGracePeriodSeconds: 1 },
      ),
    );
    await h.pass(12);
    assert.match(states(h, "uid-of-a"), /main:(running|CrashLoopBackOff):[1-9]/);
    assert.ok(
      h.events.some(
        ({ reason, message }) =>
          reason === "Killing" && message === "Container main failed liveness probe, will be restarted",
      ),
    );
    assert.ok(h.events.some(({ reason, container }) => reason === "Unhealthy" && container === "main"));
  }));

test("readiness follows its probe", () =>
  on({}, async (h) => {
    h.run(
      podOf("a", {
        readinessProbe: { exec: { command: ["true"] }, periodSeconds: 1, initialDelaySeconds: 5 },
      }),
    );
    await h.pass(3);
    assert.equal(condition(h, "uid-of-a", "Ready"), "False");
    await h.pass(5);
    assert.equal(condition(h, "uid-of-a", "Ready"), "True");
  }));

test("a missing image is retried with back-off", () =>
  on({}, async (h) => {
    h.run(podOf("a", { image: "registry.example/none:1" }));
    await h.pass(1);
    assert.match(states(h, "uid-of-a"), /main:(ErrImagePull|ImagePullBackOff):0/);
    await h.pass(60);
    const pulls = h.runtime.calls.filter(({ method }) => method === "PullImage").length;
    assert.ok(pulls >= 2 && pulls <= 4, `${pulls} pulls in a minute`);
    assert.ok(h.reasons().includes("BackOff"));
  }));

const waitingCases: [name: string, container: object, reason: string][] = [
  [
    "an image that may not be pulled",
    { image: "registry.example/none:1", imagePullPolicy: "Never" },
    "ErrImageNeverPull",
  ],
  ["an invalid image name", { image: "Not A/Valid::Name" }, "InvalidImageName"],
  [
    "a missing config map",
    { env: [{ name: "A", valueFrom: { configMapKeyRef: { name: "none", key: "k" } } }] },
    "CreateContainerConfigError",
  ],
  [
    "an image that runs as root where root is forbidden",
    { securityContext: { runAsNonRoot: true } },
    "CreateContainerConfigError",
  ],
  [
    "root where root is forbidden",
    { securityContext: { runAsNonRoot: true, runAsUser: 0 } },
    "CreateContainerConfigError",
  ],
];
for (const [name, container, reason] of waitingCases) {
  test(`${name} leaves the container waiting with ${reason}`, () =>
    on({}, async (h) => {
      h.run(podOf("a", container));
      await h.pass(2);
      assert.equal(states(h, "uid-of-a"), `main:${reason}:0`);
      assert.equal(h.status("uid-of-a").phase, "Pending");
    }));
}

test("a blocked pod waits and reports the reason", () =>
  on(
    { admission: { admit: () => ({ ok: true }), blocks: () => ({ reason: "AppArmor", message: "no" }) } },
    async (h) => {
      h.run({ ...podOf("a"), status: { phase: "Pending" } });
      await h.pass(3);
      const { phase, reason, message } = h.status("uid-of-a");
      assert.deepEqual(
        [phase, reason, message, states(h, "uid-of-a"), made(h)],
        ["Pending", "AppArmor", "no", "main:Blocked:0", []],
      );
    },
  ));

test("a pod whose devices cannot be allocated is rejected before anything of it is created", () =>
  on(
    {
      admission: {
        admit: () => ({ ok: true }),
        confirm: async () => ({ ok: false, reason: "UnexpectedAdmissionError", message: "no luck" }),
      },
    },
    async (h) => {
      h.run(podOf("a"));
      await h.pass(2);
      const { phase, reason, message, containerStatuses } = h.status("uid-of-a");
      assert.deepEqual(
        [phase, reason, message, containerStatuses, made(h)],
        ["Failed", "UnexpectedAdmissionError", "Pod was rejected: no luck", undefined, []],
      );
    },
  ));

test("a container that fails to start is retried soon, then with back-off", () =>
  on({}, async (h) => {
    h.run(podOf("a", { command: ["/no/such/program"] }));
    await h.pass(5);
    assert.deepEqual(
      [states(h, "uid-of-a"), made(h).filter((call) => call === "StartContainer").length],
      ["main:CrashLoopBackOff:1", 2],
    );
    assert.ok(h.reasons().includes("BackOff"));
  }));

test("a container that stays created after a failed start is retried at the normal pace, and its restart count is 0", () =>
  on({}, async (h) => {
    h.runtime.faults.fail("StartContainer", new Error("out of order"), Infinity);
    h.run(podOf("a"));
    await h.pass(15);
    assert.deepEqual(
      [states(h, "uid-of-a"), made(h).filter((call) => call === "StartContainer").length],
      ["main:RunContainerError:0", 2],
    );
  }));

test("a container that fails its liveness probe is restarted at once, twice, before it backs off", () =>
  on({}, async (h) => {
    h.run(
      podOf(
        "a",
        { livenessProbe: { exec: { command: ["false"] }, periodSeconds: 1, failureThreshold: 1 } },
        { terminationGracePeriodSeconds: 1 },
      ),
    );
    await h.pass(9);
    assert.deepEqual(
      [states(h, "uid-of-a"), h.reasons().includes("BackOff")],
      ["main:CrashLoopBackOff:2", true],
    );
  }));

test("a pod rejected by an earlier agent keeps its status", () =>
  on({}, async (h) => {
    const status = {
      phase: "Failed",
      reason: "OutOfcpu",
      message: "Pod was rejected: no",
      startTime: "2030-01-01T00:00:00Z",
    };
    h.run({ ...podOf("a"), status });
    await h.pass(3);
    assert.deepEqual([h.status("uid-of-a"), made(h)], [status, []]);
  }));

for (const selinux of [false, true]) {
  test(`volumes are ${selinux ? "relabelled with" : "not relabelled without"} SELinux`, () =>
    on({ settings: { selinux } }, async (h) => {
      h.run(
        podOf(
          "a",
          { volumeMounts: [{ name: "v", mountPath: "/v" }] },
          { volumes: [{ name: "v", emptyDir: {} }] },
        ),
      );
      await h.pass(2);
      const created = h.runtime.calls.find(({ method }) => method === "CreateContainer")?.request as {
        config: { mounts: { containerPath: string; selinuxRelabel?: boolean }[] };
      };
      assert.equal(
        created.config.mounts.find(({ containerPath }) => containerPath === "/v")?.selinuxRelabel ?? false,
        selinux,
      );
    }));
}

test("readiness is probed immediately after the startup probe succeeds", () =>
  on({}, async (h) => {
    h.run(
      podOf("a", {
        startupProbe: { exec: { command: ["true"] }, initialDelaySeconds: 4, periodSeconds: 1 },
        readinessProbe: { exec: { command: ["true"] }, periodSeconds: 60 },
      }),
    );
    await h.pass(3);
    assert.equal(condition(h, "uid-of-a", "Ready"), "False");
    await h.pass(4);
    assert.equal(condition(h, "uid-of-a", "Ready"), "True");
  }));

test("a container whose postStart hook failed is restarted soon", () =>
  on({}, async (h) => {
    h.run(
      podOf(
        "a",
        { lifecycle: { postStart: { exec: { command: ["false"] } } } },
        { terminationGracePeriodSeconds: 1 },
      ),
    );
    await h.pass(5);
    assert.equal(h.runtime.calls.filter(({ method }) => method === "StartContainer").length, 2);
    assert.ok(h.reasons().includes("BackOff"));
  }));

test("a host name that is too long prevents the sandbox, and is recorded as an event", () =>
  on({}, async (h) => {
    h.run(podOf("a", {}, { hostname: "h".repeat(60), subdomain: "s", setHostnameAsFQDN: true }));
    await h.pass(2);
    const event = h.events.find(({ reason }) => reason === "FailedCreatePodSandBox");
    assert.match(
      event?.message ?? "",
      /^Failed to create pod sandbox: failed to construct FQDN from pod hostname .* is too long \(64 characters is the max, \d+ characters requested\)$/,
    );
  }));

test("a failed postStart hook kills the container", () =>
  on({}, async (h) => {
    h.run(
      podOf(
        "a",
        { lifecycle: { postStart: { exec: { command: ["false"] } } } },
        { restartPolicy: "Never", terminationGracePeriodSeconds: 1 },
      ),
    );
    await h.pass(5);
    assert.equal(states(h, "uid-of-a"), "main:Error(137):0");
    assert.equal(h.status("uid-of-a").phase, "Failed");
    assert.deepEqual(h.reasons().slice(3), ["FailedPostStartHook", "Killing"]);
  }));

test("a rejected pod fails with the reason and nothing is created", () =>
  on({ admission: { admit: () => ({ ok: false, reason: "OutOfcpu", message: "no cpu" }) } }, async (h) => {
    h.run(podOf("a"));
    await h.pass(2);
    const { phase, reason, message, conditions, containerStatuses } = h.status("uid-of-a");
    assert.deepEqual(
      [phase, reason, message, conditions, containerStatuses],
      ["Failed", "OutOfcpu", "Pod was rejected: no cpu", undefined, undefined],
    );
    assert.deepEqual(made(h), []);
    h.delete("uid-of-a", 30);
    await h.pass(1);
    assert.deepEqual(h.deleted, ["uid-of-a"]);
  }));

test("a restarted agent recreates nothing and changes no condition", async () => {
  const first = harness();
  first.run(podOf("a", { readinessProbe: { exec: { command: ["true"] }, periodSeconds: 5 } }));
  await first.pass(3);
  assert.equal(condition(first, "uid-of-a", "Ready"), "True");
  const status = first.status("uid-of-a");
  await first.close();
  const before = made(first).length;
  const second = harness({ reuse: first });
  await second.listOnce();
  second.runtime.calls.length = 0;
  second.run({
    ...podOf("a", { readinessProbe: { exec: { command: ["true"] }, periodSeconds: 5 } }),
    status,
  });
  await second.pass(10);
  assert.ok(before > 0);
  assert.deepEqual(
    made(second).filter((method) => method !== "ExecSync"),
    [],
  );
  assert.deepEqual(
    second.statuses
      .get("uid-of-a")
      ?.filter(({ conditions }) => conditions?.find(({ type }) => type === "Ready")?.status !== "True") ?? [],
    [],
  );
  await second.close();
});

test("a restarted agent terminates a pod that may no longer run here", async () => {
  const first = harness();
  first.run(podOf("a", {}, { terminationGracePeriodSeconds: 1 }));
  await first.pass(3);
  const status = first.status("uid-of-a");
  await first.close();
  const admissionCalls: unknown[] = [];
  const second = harness({
    reuse: first,
    admission: {
      admit: (pod, others, ran) => {
        admissionCalls.push([pod.metadata.name, others.map(({ metadata }) => metadata.name), ran]);
        return ran ? { ok: false, reason: "NodeAffinity", message: "not here" } : { ok: true };
      },
    },
  });
  await second.listOnce();
  second.run({ ...podOf("done"), status: { phase: "Succeeded", containerStatuses: [] } });
  second.run({ ...podOf("a", {}, { terminationGracePeriodSeconds: 1 }), status });
  second.run(podOf("b"));
  await second.pass(5);
  assert.deepEqual(
    admissionCalls,
    [
      ["a", [], true],
      ["b", [], false],
    ],
    "neither finished nor rejected pods count",
  );
  const { phase, reason, message } = second.status("uid-of-a");
  assert.deepEqual([phase, reason, message], ["Failed", "NodeAffinity", "Pod was rejected: not here"]);
  assert.equal(states(second, "uid-of-a"), "main:Error(137):0");
  assert.ok(second.reasons().includes("NodeAffinity"));
  await second.close();
});

test("a container whose image has changed is restarted with the new one", () =>
  on({ runtime: { images: ["busybox:1", "busybox:2"] } }, async (h) => {
    h.run(podOf("a", {}, { terminationGracePeriodSeconds: 1 }));
    await h.pass(1);
    h.run(podOf("a", { image: "busybox:2" }, { terminationGracePeriodSeconds: 1 }));
    await h.pass(20);
    assert.equal(states(h, "uid-of-a"), "main:running:1");
    assert.ok(
      h.events.some(({ message }) => message === "Container main definition changed, will be restarted"),
    );
  }));

test("an ephemeral container is added to a running pod and never restarted", () =>
  on({}, async (h) => {
    h.run(podOf("a"));
    await h.pass(1);
    h.run(
      podOf(
        "a",
        {},
        { ephemeralContainers: [{ name: "debug", image: "busybox:1", command: ["sh", "-c", "exit 4"] }] },
      ),
    );
    await h.pass(30);
    const [debug] = h.status("uid-of-a").ephemeralContainerStatuses ?? [];
    assert.deepEqual([debug?.state.terminated?.exitCode, debug?.restartCount], [4, 0]);
    assert.equal(condition(h, "uid-of-a", "Ready"), "True");
  }));

test("a broken sandbox is recreated together with its containers", () =>
  on({}, async (h) => {
    h.run(podOf("a"));
    await h.pass(1);
    h.runtime.breakSandbox((await h.runtime.listPodSandboxes())[0]!.id);
    await h.pass(15);
    assert.match(states(h, "uid-of-a"), /main:running:1/);
    assert.ok(h.reasons().includes("SandboxChanged"));
  }));

test("a pod without events is synced within every sync period", async () => {
  const refreshed: string[] = [];
  await on({ onRefresh: (uid) => void refreshed.push(uid) }, async (h) => {
    h.run(podOf("a"));
    await h.pass(2);
    for (let minute = 1; minute <= 3; minute++) {
      const before = refreshed.length;
      await h.pass(61);
      assert.ok(refreshed.length > before, `minute ${minute}`);
    }
  });
});
