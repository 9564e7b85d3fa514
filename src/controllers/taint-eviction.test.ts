import assert from "node:assert/strict";
import { test } from "node:test";
import type { Pod, Taint, Toleration } from "#api";
import { virtualClock } from "#base";
import { kinds } from "#client";
import { gone, until, withController } from "./cluster.fixture.ts";
import { taintEvictionController, tolerableSeconds } from "./taint-eviction.ts";

const out = (key: string, value?: string): Taint => ({ key, effect: "NoExecute", ...(value && { value }) });
const cases: [name: string, tolerations: Toleration[], taints: Taint[], seconds: number | undefined][] = [
  ["without taints pods stay", [], [], undefined],
  ["a taint that only keeps new pods off lets others stay", [], [{ key: "a", effect: "NoSchedule" }], undefined],
  ["a taint that expels does so at once", [], [out("a")], 0],
  ["a taint that is tolerated lets pods stay", [{ key: "a", operator: "Exists" }], [out("a")], undefined],
  ["a toleration of another value is none", [{ key: "a", value: "other" }], [out("a", "b")], 0],
  ["a toleration for a time gives that time", [{ key: "a", operator: "Exists", tolerationSeconds: 30 }], [out("a")], 30],
  ["of several times the shortest counts", [{ key: "a", operator: "Exists", tolerationSeconds: 30 }, { key: "b", operator: "Exists", tolerationSeconds: 5 }], [out("a"), out("b")], 5],
  ["a taint that is not tolerated counts most", [{ key: "a", operator: "Exists", tolerationSeconds: 30 }], [out("a"), out("b")], 0],
  ["a time below nothing is none", [{ operator: "Exists", tolerationSeconds: -1 }], [out("a")], 0],
  ["of two tolerations that fit the first counts", [{ key: "a", operator: "Exists" }, { operator: "Exists", tolerationSeconds: 5 }], [out("a")], undefined],
]; // prettier-ignore
for (const [name, tolerations, taints, seconds] of cases) {
  test(name, () =>
    assert.equal(tolerableSeconds({ spec: { tolerations } } as unknown as Pod, taints), seconds),
  );
}

test("pods leave a tainted node when their time is over, and stay when the taint goes first", async () => {
  const clock = virtualClock(Date.now());
  await withController(
    taintEvictionController,
    async ({ client }) => {
      const namespace = "default";
      const pods = client.of(kinds.pods);
      const nodes = client.of(kinds.nodes);
      const taint = async (node: string, taints: readonly Taint[]): Promise<void> =>
        void (await nodes.patch(node, "merge", { spec: { taints } }));
      const told = async (note: string): Promise<boolean> =>
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
      await until(async () => await gone(pods.get("quick", { namespace })));
      assert.ok(await told("Marking for deletion Pod default/quick"));
      await clock.advance(59_000);
      await taint("n1", []);
      await until(() => told("Cancelling deletion of Pod default/slow"));
      await clock.advance(60_000);
      await taint("n1", [out("bad")]);
      await until(async () => {
        await clock.advance(10_000);
        return await gone(pods.get("slow", { namespace }));
      });
      for (const name of ["lasting", "elsewhere"])
        assert.equal((await pods.get(name, { namespace })).metadata.deletionTimestamp, undefined);
    },
    clock,
  );
});
