// The images in the node status: the largest first, up to a limit.
import type { ContainerImage } from "#api";
import type { Image } from "#cri";

const maxNames = 5;

export function imagesOf(
  images: readonly Pick<Image, "repoDigests" | "repoTags" | "size">[],
  limit: number,
): ContainerImage[] {
  const sorted = images.toSorted((a, b) => Number(b.size) - Number(a.size));
  return (limit < 0 ? sorted : sorted.slice(0, limit)).map(({ repoDigests, repoTags, size }) => ({
    names: [...repoDigests, ...repoTags].slice(0, maxNames),
    sizeBytes: Number(size),
  }));
}
