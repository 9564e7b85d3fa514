import { test } from "node:test";
import assert from "node:assert/strict";
import {
  required,
  verifiedConditions,
  verifiedContainer,
  verifiedImage,
  verifiedSandbox,
  verifiedVersion,
} from "./verify.ts";

const sandbox = { id: "s", metadata: { name: "p", namespace: "ns", uid: "u" }, createdAt: 1 };
const container = {
  id: "c",
  metadata: { name: "c" },
  createdAt: 1,
  image: { image: "i" },
  imageRef: "sha256:1",
};
const version = { version: "v1", runtimeName: "r", runtimeVersion: "1", runtimeApiVersion: "v1" };

const refused: [what: string, verify: () => unknown, message: RegExp][] = [
  [
    "a version without a runtime name",
    () => verifiedVersion({ ...version, runtimeName: "" }),
    /^not all fields are set/,
  ],
  ["a status with one condition", () => verifiedConditions([{} as never]), /^RuntimeReady or NetworkReady/],
  ["no sandbox", () => verifiedSandbox(undefined), /^status.Id is not set$/],
  [
    "a sandbox without metadata",
    () => verifiedSandbox({ ...sandbox, metadata: undefined } as never),
    /^status.Metadata is not set$/,
  ],
  [
    "a sandbox without a uid",
    () => verifiedSandbox({ ...sandbox, metadata: { ...sandbox.metadata, uid: "" } } as never),
    /^metadata.Name, metadata.Namespace or metadata.Uid is not in metadata/,
  ],
  [
    "a sandbox without a time",
    () => verifiedSandbox({ ...sandbox, createdAt: 0n } as never),
    /^status.CreatedAt/,
  ],
  ["no container", () => verifiedContainer(undefined), /^container status is nil$/],
  [
    "a container without an image",
    () => verifiedContainer({ ...container, image: {} } as never),
    /^status.Image is/,
  ],
  [
    "a container without an image ID",
    () => verifiedContainer({ ...container, imageRef: "" } as never),
    /^status.ImageRef/,
  ],
  [
    "an image without a size",
    () => verifiedImage({ id: "i", size: 0n } as never, "b"),
    /^Id or size of image "b" is not set$/,
  ],
  ["no URL", () => required("", "URL is not set"), /^URL is not set$/],
];
for (const [what, verify, message] of refused)
  test(`a runtime that returns ${what} is refused`, () => assert.throws(verify, { message }));

test("complete answers of a runtime are accepted", () => {
  assert.equal(verifiedVersion(version), version);
  assert.equal(verifiedSandbox(sandbox as never), sandbox);
  assert.equal(verifiedContainer(container as never), container);
  assert.equal(verifiedImage(undefined, "b"), undefined);
});
