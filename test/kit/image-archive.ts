// An image as an archive that containerd can import, for clusters without access to a registry.
import { execFile } from "node:child_process";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { type ImagePlan, imageParts } from "./registry.ts";

const run = promisify(execFile);

/** Writes the archive of an image with the given full name. */
export async function writeImageArchive(file: string, name: string, plan: ImagePlan): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), "orch-archive-"));
  try {
    const { blobs, manifest, manifestDigest, manifestType } = await imageParts(plan);
    await mkdir(join(folder, "blobs", "sha256"), { recursive: true });
    for (const [digest, bytes] of [...blobs, [manifestDigest, manifest] as const])
      await writeFile(join(folder, "blobs", digest.replace(":", "/")), bytes);
    const annotations = { "io.containerd.image.name": name };
    const entry = { mediaType: manifestType, digest: manifestDigest, size: manifest.length, annotations };
    await writeFile(join(folder, "index.json"), JSON.stringify({ schemaVersion: 2, manifests: [entry] }));
    await writeFile(join(folder, "oci-layout"), JSON.stringify({ imageLayoutVersion: "1.0.0" }));
    await run("tar", ["-C", folder, "-cf", file, "."]);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
