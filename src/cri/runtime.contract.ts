// The contract of a ContainerRuntime: one test suite for the real runtime and the fake, so that tests on the
// fake are meaningful.
import { after, before, describe, test } from "node:test";
import { containerCases } from "./contract/container-cases.contract.ts";
import { podCases } from "./contract/pod-cases.contract.ts";
import { type RuntimeUnderTest, contractWorld } from "./contract/world.fixture.ts";

export type { RuntimeUnderTest } from "./contract/world.fixture.ts";

/** Runs the suite on the runtime returned by `open`; with `concurrency` its cases run concurrently. */
export function runtimeContract(
  name: string,
  open: () => Promise<RuntimeUnderTest>,
  { concurrency = false }: { readonly concurrency?: boolean } = {},
): void {
  describe(`${name} keeps the contract of a container runtime`, { concurrency }, () => {
    let under: RuntimeUnderTest;
    before(async () => {
      under = await open();
    });
    after(() => under?.stop());
    const world = contractWorld(() => under);
    for (const [title, run] of [...podCases(world), ...containerCases(world)]) test(title, run);
  });
}
