// The resources that pods with sidecars need at a time.
import assert from "node:assert/strict";
import { test } from "node:test";
import type { Container } from "./container.ts";
import { peakUsage, numbers, runningContainers } from "./sidecars.ts";

const init = (cpu: number): Container => ({ name: "init", resources: { requests: { cpu: String(cpu) } } });
const sidecar = (cpu: number): Container => ({ ...init(cpu), name: "sidecar", restartPolicy: "Always" });
const main = (cpu: number): Container => ({ ...init(cpu), name: "main" });

const cases: [name: string, inits: Container[], containers: Container[], most: number][] = [
  ["containers run together", [], [main(1), main(2)], 3],
  ["init containers run one by one", [init(5), init(4)], [main(1), main(2)], 5],
  ["sidecars run along with the containers", [sidecar(1), sidecar(2)], [main(4)], 7],
  ["sidecars run along with the init containers after them", [sidecar(2), init(4)], [main(1)], 6],
  ["sidecars do not run along with the init containers before them", [init(4), sidecar(1)], [main(1)], 4],
  ["a pod without containers needs nothing", [], [], 0],
];
for (const [name, initContainers, containers, most] of cases) {
  test(name, () => {
    const of = ({ resources }: Container): number => Number(resources.requests?.["cpu"]);
    assert.equal(peakUsage({ initContainers, containers }, of, numbers), most);
  });
}

test("sidecars and containers run once the pod has started, init containers do not", () => {
  const spec = { initContainers: [init(1), sidecar(1)], containers: [main(1)] };
  assert.deepEqual(
    runningContainers(spec).map(({ name }) => name),
    ["main", "sidecar"],
  );
});
