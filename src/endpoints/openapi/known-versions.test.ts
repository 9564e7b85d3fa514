import assert from "node:assert/strict";
import { test } from "node:test";
import { dialects } from "#dialect";
import { knownVersions } from "./known-versions.ts";

const named = (versions: ReturnType<typeof knownVersions>): string[] =>
  versions.map(({ group, version }) => `${group}/${version}`);

test("versions that are no longer served are known", () => {
  const known = named(knownVersions([{ group: "apps", branded: false, version: "v1" }], dialects.orch));
  assert.equal(known[0], "apps/v1");
  for (const old of ["apps/v1beta1", "extensions/v1beta1", "flowcontrol.apiserver/v1alpha1"])
    assert.ok(known.includes(old), old);
});

test("a served version is listed once", () => {
  const known = named(
    knownVersions([{ group: "resource", branded: true, version: "v1alpha2" }], dialects.orch),
  );
  assert.equal(known.filter((each) => each === "resource/v1alpha2").length, 1);
});

test("a served version with the full name of its group is listed once", () => {
  const known = knownVersions(
    [{ group: "authentication.orch.io", branded: false, version: "v1alpha1" }],
    dialects.orch,
  );
  const found = known.filter(
    ({ group, version }) => /^authentication\b/.test(group) && version === "v1alpha1",
  );
  assert.equal(found.length, 1);
});
