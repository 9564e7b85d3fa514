import assert from "node:assert/strict";
import { test } from "node:test";
import { silentLog, virtualClock } from "#base";
import { referenceTo } from "./pod.ts";
import { samplePod } from "./pod.fixture.ts";
import type { AgentDeps } from "./agent-parts.ts";
import { reportFallback, reportResolver, restartBackOff, sandboxLimiter } from "./agent-context.ts";

const cases: [given: number | undefined, first: number, longest: number][] = [
  [undefined, 10_000, 300_000],
  [60_000, 10_000, 60_000],
  [2000, 2000, 2000],
];
for (const [given, first, longest] of cases)
  test(`with a maximum delay of ${given ?? "no"} milliseconds restarts back off from ${first} to ${longest}`, () => {
    const { firstMilliseconds, longestMilliseconds } = restartBackOff(virtualClock(), given);
    assert.deepEqual([firstMilliseconds, longestMilliseconds], [first, longest]);
  });

test("slow sandboxes are created by the dozen, quick ones three at a time on two processors", async () => {
  const clock = virtualClock();
  const limit = sandboxLimiter(clock, 2);
  const made = async (milliseconds: number): Promise<{ most: number; startedAfter: number }> => {
    const from = clock.now();
    let [inside, most, startedAt] = [0, 0, from];
    const all = Array.from({ length: 60 }, () =>
      limit.run(async () => {
        startedAt = clock.now();
        most = Math.max(most, ++inside);
        await clock.sleep(milliseconds);
        inside--;
      }),
    );
    while (clock.now() < from + 30_000) await clock.advance(50);
    await Promise.all(all);
    return { most, startedAfter: startedAt - from };
  };
  assert.equal((await made(200)).most, 3);
  const { startedAfter: begunAfter } = await made(7000);
  assert.ok(begunAfter < 8000, `all were begun after ${begunAfter} ms`);
});

test("a resolver file that cannot be read is reported in an event of the node", () => {
  const events: unknown[] = [];
  const report = (resolvConf: string): void =>
    reportResolver({
      settings: { resolvConf, clusterDomain: "c", featureGates: {} },
      nodeName: "n1",
      events: { event: (...event: unknown[]) => void events.push(event) },
    } as unknown as AgentDeps);
  report("");
  assert.deepEqual(events, []);
  report("/nowhere/resolv.conf");
  const message = "open /nowhere/resolv.conf: no such file or directory";
  const node = { kind: "Node", name: "n1", uid: "n1" };
  assert.deepEqual(events, [[node, "Warning", "CheckLimitsForResolvConf", message]]);
});

test("the retry of an HTTPS hook over plain HTTP is reported in an event of the pod", () => {
  const events: unknown[] = [];
  const recorder = { event: (...event: unknown[]) => void events.push(event) } as AgentDeps["events"];
  const pod = samplePod();
  reportFallback({ log: silentLog, events: recorder }, pod, "10.0.0.1:443");
  const message = "request to HTTPS lifecycle hook 10.0.0.1:443 got HTTP response, retry with HTTP succeeded";
  assert.deepEqual(events, [[referenceTo(pod), "Warning", "LifecycleHTTPFallback", message]]);
});
