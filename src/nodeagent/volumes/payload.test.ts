import assert from "node:assert/strict";
import { test } from "node:test";
import { soleUser } from "./payload.ts";
import { podWith } from "./volumes.fixture.ts";

const container = (runAsUser?: number) => ({
  name: "c",
  ...(runAsUser !== undefined && { securityContext: { runAsUser } }),
});
const users: [name: string, spec: object, user: number | undefined][] = [
  ["of all containers", { initContainers: [container(5)], containers: [container(5)] }, 5],
  ["of the pod", { containers: [container()], securityContext: { runAsUser: 6 } }, 6],
  ["of one of two containers", { containers: [container(5), container()] }, undefined],
  ["of containers that differ", { initContainers: [container(4)], containers: [container(5)] }, undefined],
  ["beside an ephemeral container", { containers: [container(5)], ephemeralContainers: [container()] }, 5],
];
for (const [name, spec, user] of users)
  test(`the user ${name} is the owner of token files: ${user ?? "none"}`, () =>
    assert.equal(soleUser(podWith({}, { ...spec })), user));
