import assert from "node:assert/strict";
import { test } from "node:test";
import type { Pod, Taint, Toleration } from "#api";
import { virtualClock } from "#base";
import { kinds } from "#client";
import { isDeleted, until, withController } from "./cluster.fixture.ts";
import { taintEvictionController, tolerableSeconds } from "./taint-eviction.ts";

const out = (key: string, value?: string): Taint => ({ key, effect: "NoExecute", ...(value && { value }) });
const cases: [name: string, tolerations: Toleration[], taints: Taint[], seconds: number | undefined][] = [
  ["without taints pods are kept", [], [], undefined],
  ["a NoSchedule taint evicts no pods", [], [{ key: "a", effect: "NoSchedule" }], undefined],
  ["a NoExecute taint evicts at once", [], [out("a")], 0],
  ["a tolerated taint evicts no pods", [{ key: "a", operator: "Exists" }], [out("a")], undefined],
  ["a toleration of another value does not match", [{ key: "a", value: "other" }], [out("a", "b")], 0],
  ["a toleration limited in time delays the eviction", [{ key: "a", operator: "Exists", tolerationSeconds: 30 }], [out("a")], 30],
  ["the shortest of several times counts", [{ key: "a", operator: "Exists", tolerationSeconds: 30 }, { key: "b", operator: "Exists", tolerationSeconds: 5 }], [out("a"), out("b")], 5],
  ["an untolerated taint takes precedence", [{ key: "a", operator: "Exists", tolerationSeconds: 30 }], [out("a"), out("b")], 0],
  ["a negative time counts as zero", [{ operator: "Exists", tolerationSeconds: -1 }], [out("a")], 0],
  ["the first of two matching tolerations counts", [{ key: "a", operator: "Exists" }, { operator: "Exists", tolerationSeconds: 5 }], [out("a")], undefined],
]; // prettier-ignore
for (const [name, tolerations, taints, seconds] of cases) {
  test(name, () =>
    assert.equal(tolerableSeconds({ spec: { tolerations } } as unknown as Pod, taints), seconds),
  );
}

test("pods are evicted after the tolerated time, and kept if the taint is removed before", async () => {
  const clock = virtualClock(Date.now());
  await withController(
    taintEvictionController,
    async ({ client }) => {
      const namespace = "default";
      const pods = client.of(kinds.pods);
      const nodes = client.of(kinds.nodes);
      const taint = async (node: string, taints: readonly Taint[]): Promise<void> =>
        void (await nodes.patch(node, "merge", { spec: { taints } }));
      const isReported = async (note: string): Promise<boolean> =>
        (await client.of(kinds.events).list({ namespace })).items.some((event) => event.note === note);
      for (const name of ["n1", "n2"]) {
        await nodes.create({ metadata: { name }, spec: {} });
        await taint(name, []);
      }
      const add = async (
        name: string,
        nodeName: string,
        tolerations: readonly Toleration[],
      ): Promise<void> => {
        await pods.create({
          metadata: { name, namespace },
          spec: {
            nodeName,
            tolerations,
            terminationGracePeriodSeconds: 0,
            containers: [{ name: "c", image: "i" }],
          },
        } as never);
      };
      const forSeconds = (tolerationSeconds: number): Toleration[] => [
        { key: "bad", operator: "Exists", effect: "NoExecute", tolerationSeconds },
      ];
      await add("quick", "n1", []);
      await add("slow", "n1", forSeconds(60));
      await add("lasting", "n1", [{ key: "bad", operator: "Exists" }]);
      await add("elsewhere", "n2", []);
      await taint("n1", [out("bad")]);
      await until(async () => await isDeleted(pods.get("quick", { namespace })));
      assert.ok(await isReported("Marking for deletion Pod default/quick"));
      await clock.advance(59_000);
      await taint("n1", []);
      await until(() => isReported("Cancelling deletion of Pod default/slow"));
      await clock.advance(60_000);
      await taint("n1", [out("bad")]);
      await until(async () => {
        await clock.advance(10_000);
        return await isDeleted(pods.get("slow", { namespace }));
      });
      for (const name of ["lasting", "elsewhere"])
        assert.equal((await pods.get(name, { namespace })).metadata.deletionTimestamp, undefined);
    },
    clock,
  );
});
