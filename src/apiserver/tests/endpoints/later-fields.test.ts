// Fields of later releases: unknown unless their feature gates are on.
import assert from "node:assert/strict";
import { test } from "node:test";
import { serve } from "../../server.fixture.ts";

const plain = await serve();
const ahead = await serve({ flags: ["--feature-gates=SidecarContainers=true,PodLifecycleSleepAction=true"] });

const template = {
  spec: {
    initContainers: [{ name: "proxy", image: "i", restartPolicy: "Always" }],
    containers: [{ name: "main", image: "i", lifecycle: { preStop: { sleep: { seconds: 3 } } } }],
  },
};
const path = "/api/v1/namespaces/default/pods?fieldValidation=Strict";
for (const { must } of [plain, ahead])
  await must(201, "POST", "/api/v1/namespaces/default/serviceaccounts", {
    body: { metadata: { name: "default" } },
  });
const pod = { apiVersion: "v1", kind: "Pod", metadata: { name: "p" }, ...template };

test("without their gates the fields are unknown", async () => {
  const { text } = await plain.must(400, "POST", path, { body: pod });
  assert.match(text, /unknown field \\"spec.initContainers\[0\].restartPolicy\\"/);
  assert.match(text, /unknown field \\"spec.containers\[0\].lifecycle.preStop.sleep\\"/);
});

test("without their gates the fields are dropped from stored objects", async () => {
  const { initContainers } = template.spec;
  const body = { ...pod, spec: { initContainers, containers: [{ name: "main", image: "i" }] } };
  const created = await plain.must(201, "POST", path.replace("Strict", "Ignore"), { body });
  assert.equal(created.at("spec.initContainers.0.restartPolicy"), undefined);
});

test("with their gates the fields are stored and served, in pods and in templates", async () => {
  const created = await ahead.must(201, "POST", path, { body: pod });
  assert.equal(created.at("spec.initContainers.0.restartPolicy"), "Always");
  assert.equal(created.at("spec.containers.0.lifecycle.preStop.sleep.seconds"), 3);
  const deployment = {
    apiVersion: "apps/v1",
    kind: "Deployment",
    metadata: { name: "d" },
    spec: {
      selector: { matchLabels: { app: "d" } },
      template: { metadata: { labels: { app: "d" } }, ...template },
    },
  };
  const made = await ahead.must(201, "POST", "/apis/apps/v1/namespaces/default/deployments", {
    body: deployment,
  });
  assert.equal(made.at("spec.template.spec.initContainers.0.restartPolicy"), "Always");
});

test("the published schema has the fields only with their gates", async () => {
  for (const [server, has] of [
    [plain, false],
    [ahead, true],
  ] as const) {
    const { text } = await server.must(200, "GET", "/openapi/v3/api/v1");
    assert.equal(/"sleep":/.test(text), has);
  }
});

test("a hook may sleep for zero seconds only with the gate of that", async () => {
  const both = "PodLifecycleSleepAction=true,PodLifecycleSleepActionAllowZero=true";
  const zero = await serve({ flags: [`--feature-gates=${both}`] });
  await zero.must(201, "POST", "/api/v1/namespaces/default/serviceaccounts", {
    body: { metadata: { name: "default" } },
  });
  const sleeping = (seconds: number) => ({
    ...pod,
    metadata: { name: `s${seconds + 1}` },
    spec: { containers: [{ name: "main", image: "i", lifecycle: { preStop: { sleep: { seconds } } } }] },
  });
  await zero.must(201, "POST", path, { body: sleeping(0) });
  for (const [server, seconds, least] of [
    [zero, -1, "non-negative"],
    [ahead, 0, "greater than 0"],
  ] as const) {
    const { text } = await server.must(422, "POST", path, { body: sleeping(seconds) });
    assert.ok(text.includes(`must be ${least} and less than terminationGracePeriodSeconds (30)`), text);
  }
});
