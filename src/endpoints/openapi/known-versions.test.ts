import assert from "node:assert/strict";
import { test } from "node:test";
import { knownVersions } from "./known-versions.ts";

const named = (versions: ReturnType<typeof knownVersions>): string[] =>
  versions.map(({ group, version }) => `${group}/${version}`);

test("versions that are no longer served are known", () => {
  const known = named(knownVersions([{ group: "apps", branded: false, version: "v1" }]));
  assert.equal(known[0], "apps/v1");
  for (const old of ["apps/v1beta1", "extensions/v1beta1", "flowcontrol.apiserver/v1alpha1"])
    assert.ok(known.includes(old), old);
});

test("a version that is served is known once", () => {
  const known = named(knownVersions([{ group: "resource", branded: true, version: "v1alpha2" }]));
  assert.equal(known.filter((each) => each === "resource/v1alpha2").length, 1);
});
