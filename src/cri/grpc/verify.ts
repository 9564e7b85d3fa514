// Checks of what a runtime returned, worded as in the kubelet.
import type { ContainerStatus } from "../messages/container.ts";
import type { Image } from "../messages/image.ts";
import type { RuntimeCondition, VersionResponse } from "../messages/runtime.ts";
import type { PodSandboxStatus } from "../messages/sandbox.ts";

export function verifiedVersion(version: VersionResponse): VersionResponse {
  const { runtimeName, runtimeVersion, runtimeApiVersion } = version;
  if (!version.version || !runtimeName || !runtimeVersion || !runtimeApiVersion)
    throw new Error(`not all fields are set in VersionResponse (${JSON.stringify(version)})`);
  return version;
}

export function verifiedConditions(
  conditions: readonly RuntimeCondition[] | undefined,
): readonly RuntimeCondition[] {
  if (conditions === undefined || conditions.length < 2)
    throw new Error("RuntimeReady or NetworkReady condition are not set");
  return conditions;
}

export function verifiedSandbox(status: PodSandboxStatus | undefined): PodSandboxStatus {
  if (!status?.id) throw new Error("status.Id is not set");
  const { metadata, createdAt } = status;
  if (!metadata) throw new Error("status.Metadata is not set");
  if (!metadata.name || !metadata.namespace || !metadata.uid)
    throw new Error(
      `metadata.Name, metadata.Namespace or metadata.Uid is not in metadata ${JSON.stringify(metadata)}`,
    );
  if (!Number(createdAt)) throw new Error("status.CreatedAt is not set");
  return status;
}

export function verifiedContainer(status: ContainerStatus | undefined): ContainerStatus {
  if (!status) throw new Error("container status is nil");
  const { id, metadata, createdAt, image, imageRef } = status;
  if (!id) throw new Error("status.Id is not set");
  if (!metadata) throw new Error("status.Metadata is not set");
  if (!metadata.name) throw new Error(`metadata.Name is not in metadata ${JSON.stringify(metadata)}`);
  if (!Number(createdAt)) throw new Error("status.CreatedAt is not set");
  if (!image?.image) throw new Error("status.Image is not set");
  if (!imageRef) throw new Error("status.ImageRef is not set");
  return status;
}

export function verifiedImage(image: Image | undefined, name: string | undefined): Image | undefined {
  if (image && (!image.id || !Number(image.size)))
    throw new Error(`Id or size of image ${JSON.stringify(name)} is not set`);
  return image;
}

/** Returns a value that the runtime has to set. */
export function required(value: string | undefined, otherwise: string): string {
  if (!value) throw new Error(otherwise);
  return value;
}
