// CRI messages for images.
import { bool, list, map, optional, required, string, uint64 } from "#schema";
import { ImageSpec, Int64Value, UInt64Value } from "./common.ts";
import { type MessageOf, message, nanoseconds } from "./declarations.ts";
import { PodSandboxConfig } from "./sandbox.ts";

export const Image = message("Image", "An image on the node.", {
  id: required(1, string, "Image ID."),
  repoTags: required(2, list(string), "Tags of the image."),
  repoDigests: required(3, list(string), "Digests of the image."),
  size: required(4, uint64, "Size in bytes."),
  uid: optional(5, Int64Value, "Numeric user ID of the image."),
  username: required(6, string, "User name of the image."),
  spec: optional(7, ImageSpec, "Requested image."),
  pinned: required(8, bool, "Whether the image is exempt from garbage collection."),
});
export type Image = MessageOf<typeof Image>;

const ImageFilter = message("ImageFilter", "Filters images.", {
  image: optional(1, ImageSpec, "Image to match."),
});
export const ListImagesRequest = message("ListImagesRequest", "Lists images.", {
  filter: optional(1, ImageFilter, "Filter."),
});
export const ListImagesResponse = message("ListImagesResponse", "Response of ListImages.", {
  images: required(1, list(Image), "Images in no particular order."),
});
export const ImageStatusRequest = message("ImageStatusRequest", "Requests the status of an image.", {
  image: optional(1, ImageSpec, "Image."),
  verbose: optional(2, bool, "Whether to return runtime-specific information."),
});
export const ImageStatusResponse = message("ImageStatusResponse", "Response of ImageStatus.", {
  image: optional(1, Image, "Absent if the image is not on the node."),
  info: required(2, map(string), "Runtime-specific information."),
});
export const AuthConfig = message("AuthConfig", "Credentials for a registry.", {
  username: optional(1, string, "User name."),
  password: optional(2, string, "Password."),
  auth: optional(3, string, "User name and password, base64 encoded."),
  serverAddress: optional(4, string, "Registry server."),
  identityToken: optional(5, string, "Identity token, exchanged for a registry token."),
  registryToken: optional(6, string, "Bearer token for the registry."),
});
export type AuthConfig = MessageOf<typeof AuthConfig>;
export const PullImageRequest = message("PullImageRequest", "Pulls an image.", {
  image: optional(1, ImageSpec, "Image."),
  auth: optional(2, AuthConfig, "Registry credentials."),
  sandboxConfig: optional(3, PodSandboxConfig, "Configuration of the sandbox the image is for."),
});
export const PullImageResponse = message("PullImageResponse", "Response of PullImage.", {
  imageRef: required(1, string, "Image ID or digest."),
});
export const RemoveImageRequest = message("RemoveImageRequest", "Removes an image.", {
  image: optional(1, ImageSpec, "Image."),
});
export const RemoveImageResponse = message("RemoveImageResponse", "Response of RemoveImage.", {});

const FilesystemIdentifier = message("FilesystemIdentifier", "Identifies a file system.", {
  mountpoint: required(1, string, "Mount point."),
});
export const FilesystemUsage = message("FilesystemUsage", "Usage of a file system.", {
  timestamp: required(1, nanoseconds, "Time of measurement."),
  fsId: optional(2, FilesystemIdentifier, "File system."),
  usedBytes: optional(3, UInt64Value, "Used bytes."),
  inodesUsed: optional(4, UInt64Value, "Used inodes."),
});
export type FilesystemUsage = MessageOf<typeof FilesystemUsage>;
export const ImageFsInfoRequest = message(
  "ImageFsInfoRequest",
  "Requests the usage of the image file systems.",
  {},
);
export const ImageFsInfoResponse = message("ImageFsInfoResponse", "Response of ImageFsInfo.", {
  imageFilesystems: required(1, list(FilesystemUsage), "Image file systems."),
});
