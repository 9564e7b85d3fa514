// The images of the fake runtime: those on the node, and those that can be pulled.
import { createHash } from "node:crypto";
import { GrpcError } from "#http";
import type { ImageSpec } from "../messages/common.ts";
import type { Image } from "../messages/image.ts";

export interface FakeImage {
  readonly name: string;
  /** `user`, `1000` or `1000:1000`. */
  readonly user?: string;
  readonly size?: number;
  readonly pinned?: boolean;
}

const digest = (text: string): string => `sha256:${createHash("sha256").update(text).digest("hex")}`;

/** Completes a name with registry and tag, like real runtimes. */
function completeName(name: string): string {
  if (name.startsWith("sha256:")) return name;
  const [first = "", ...rest] = name.split("/");
  const hosted = rest.length > 0 && (first.includes(".") || first.includes(":") || first === "localhost");
  const path = hosted ? name : `docker.io/${rest.length > 0 ? "" : "library/"}${name}`;
  return path.includes("@") || /:[^/]+$/.test(path) ? path : `${path}:latest`;
}

export class FakeImages {
  readonly #here = new Map<string, Image>();
  readonly #elsewhere = new Map<string, Image>();

  /** Adds an image to the node. */
  add(image: FakeImage): Image {
    const made = imageOf(image);
    this.#here.set(made.id, made);
    return made;
  }

  /** Makes an image pullable. */
  offer(image: FakeImage): Image {
    const made = imageOf(image);
    this.#elsewhere.set(made.repoTags[0]!, made);
    this.#elsewhere.set(made.repoDigests[0]!, made);
    return made;
  }

  list(): Image[] {
    return [...this.#here.values()];
  }

  find(spec: ImageSpec | undefined): Image | undefined {
    const name = spec?.image ?? "";
    const complete = completeName(name);
    return (
      this.#here.get(name) ??
      this.#here.get(`sha256:${name}`) ??
      this.list().find((image) => image.repoTags.includes(complete) || image.repoDigests.includes(complete))
    );
  }

  pull(spec: ImageSpec): Image {
    const name = completeName(spec.image ?? "");
    const found = this.#elsewhere.get(name) ?? this.find(spec);
    if (!found)
      throw new GrpcError(
        "NOT_FOUND",
        `failed to pull and unpack image "${name}": failed to resolve reference "${name}": ${name}: not found`,
      );
    this.#here.set(found.id, found);
    return found;
  }

  remove(spec: ImageSpec): void {
    const found = this.find(spec);
    if (found) this.#here.delete(found.id);
  }
}

function imageOf({ name, user = "", size = 1_000_000, pinned = false }: FakeImage): Image {
  const complete = completeName(name);
  const repository = complete.replace(/(:[^/]+|@.*)$/, "");
  const [who = ""] = user.split(":");
  const numeric = /^\d+$/.test(who);
  return {
    id: digest(`image ${complete}`),
    repoTags: complete.includes("@") ? [] : [complete],
    repoDigests: [complete.includes("@") ? complete : `${repository}@${digest(`manifest ${complete}`)}`],
    size,
    ...(numeric && { uid: { value: Number(who) } }),
    username: numeric ? "" : who,
    spec: { image: complete },
    pinned,
  };
}
