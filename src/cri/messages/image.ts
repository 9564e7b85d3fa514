// CRI messages for images.
import { bool, list, map, optional, required, string, uint64 } from "#schema";
import { ImageSpec, Int64Value, UInt64Value } from "./common.ts";
import { type MessageOf, message, nanoseconds } from "./declarations.ts";
import { PodSandboxConfig } from "./sandbox.ts";

export const Image = message("Image", "An image on the node.", {
  id: required(1, string, "Its id."),
  repoTags: required(2, list(string), "The names it is known by."),
  repoDigests: required(3, list(string), "The digests it is known by."),
  size: required(4, uint64, "Bytes on disk."),
  uid: optional(5, Int64Value, "The user its programs run as, by number."),
  username: required(6, string, "The user its programs run as, by name."),
  spec: optional(7, ImageSpec, "As it was asked for."),
  pinned: required(8, bool, "Whether it must stay."),
});
export type Image = MessageOf<typeof Image>;

const ImageFilter = message("ImageFilter", "Which images.", { image: optional(1, ImageSpec, "This one.") });
export const ListImagesRequest = message("ListImagesRequest", "Asks for images.", {
  filter: optional(1, ImageFilter, "Which."),
});
export const ListImagesResponse = message("ListImagesResponse", "Images.", {
  images: required(1, list(Image), "In no order."),
});
export const ImageStatusRequest = message("ImageStatusRequest", "Asks for one image.", {
  image: optional(1, ImageSpec, "Which."),
  verbose: optional(2, bool, "Whether to tell what is particular to the runtime."),
});
export const ImageStatusResponse = message("ImageStatusResponse", "One image.", {
  image: optional(1, Image, "Absent when it is not on the node."),
  info: required(2, map(string), "What is particular to the runtime."),
});
export const AuthConfig = message("AuthConfig", "Credentials for a registry.", {
  username: optional(1, string, "Who."),
  password: optional(2, string, "And the secret."),
  auth: optional(3, string, "Both in one text."),
  serverAddress: optional(4, string, "Where they hold."),
  identityToken: optional(5, string, "To get a token with."),
  registryToken: optional(6, string, "The token itself."),
});
export type AuthConfig = MessageOf<typeof AuthConfig>;
export const PullImageRequest = message("PullImageRequest", "Brings an image to the node.", {
  image: optional(1, ImageSpec, "Which."),
  auth: optional(2, AuthConfig, "Credentials."),
  sandboxConfig: optional(3, PodSandboxConfig, "For which sandbox."),
});
export const PullImageResponse = message("PullImageResponse", "It is here.", {
  imageRef: required(1, string, "Its id or digest."),
});
export const RemoveImageRequest = message("RemoveImageRequest", "Removes an image.", {
  image: optional(1, ImageSpec, "Which."),
});
export const RemoveImageResponse = message("RemoveImageResponse", "Removed.", {});

const FilesystemIdentifier = message("FilesystemIdentifier", "Which file system.", {
  mountpoint: required(1, string, "Where it is mounted."),
});
export const FilesystemUsage = message("FilesystemUsage", "How full a file system is.", {
  timestamp: required(1, nanoseconds, "When it was looked at."),
  fsId: optional(2, FilesystemIdentifier, "Which."),
  usedBytes: optional(3, UInt64Value, "Bytes in use."),
  inodesUsed: optional(4, UInt64Value, "Inodes in use."),
});
export type FilesystemUsage = MessageOf<typeof FilesystemUsage>;
export const ImageFsInfoRequest = message("ImageFsInfoRequest", "Asks where images are kept.", {});
export const ImageFsInfoResponse = message("ImageFsInfoResponse", "Where images are kept.", {
  imageFilesystems: required(1, list(FilesystemUsage), "The file systems."),
});
