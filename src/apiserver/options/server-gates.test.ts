import assert from "node:assert/strict";
import { test } from "node:test";
import { dialects } from "#dialect";
import { resolveGates, settle } from "#options";
import { apiserverOptions } from "./options.ts";
import { serverGates } from "./server-gates.ts";

const refused = serverGates.filter(({ refused: why }) => why !== undefined).map(({ name }) => name);

test("gates of missing features are rejected by name, and stay off when their stage is enabled", () => {
  assert.deepEqual(refused, ["MultiCIDRServiceAllocator", "StorageVersionAPI"]);
  for (const name of refused) {
    const { errors } = settle(apiserverOptions(dialects.orch), [`--feature-gates=${name}=true`]);
    assert.ok(
      errors.some((text) => text.includes(`${name} is refused: `)),
      errors.join("\n"),
    );
    assert.equal(resolveGates(serverGates, { AllAlpha: true }).enabled(name), false);
  }
});
