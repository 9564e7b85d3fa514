import assert from "node:assert/strict";
import { test } from "node:test";
import { harness } from "./harness.fixture.ts";
import { samplePod } from "./pod.fixture.ts";

const podNamed = (name: string) =>
  samplePod({ containers: [{ name: "c", image: "busybox:1" }] }, { name, uid: `uid-of-${name}` });

test("two agents on one runtime leave each other's pods alone", async () => {
  const first = harness({ settings: { owner: "one" } });
  first.run(podNamed("a"));
  await first.pass(3);
  const second = harness({
    settings: { owner: "two" },
    reuse: { clock: first.clock, runtime: first.runtime, folder: "/other" },
  });
  try {
    second.run(podNamed("b"));
    await second.pass(40);
    await first.pass(5);
    assert.equal(first.status("uid-of-a").phase, "Running");
    assert.equal(second.status("uid-of-b").phase, "Running");
    const stopped = first.runtime.calls.filter(({ method }) => /^(stop|remove)/i.test(method));
    assert.deepEqual(stopped, []);
  } finally {
    await second.close();
    await first.close();
  }
});

test("an agent kills its own pods that no source wants any more", async () => {
  const first = harness({ settings: { owner: "one" } });
  first.run(podNamed("a"));
  await first.pass(3);
  await first.close();
  const again = harness({
    settings: { owner: "one" },
    reuse: { clock: first.clock, runtime: first.runtime, folder: "/agent" },
  });
  try {
    await again.pass(40);
    assert.deepEqual(await again.runtime.listPodSandboxes(), []);
  } finally {
    await again.close();
  }
});
