// The pod sandbox image as an archive in the OCI layout, and its import into containerd.
import { execFile } from "node:child_process";
import { createHash } from "node:crypto";
import { writeFile } from "node:fs/promises";
import { promisify } from "node:util";
import { containerdNamespace } from "#dialect";
import { type PauseArchitecture, pauseProgram } from "./pause-program.ts";
import { systemPath } from "./system-path.ts";

/** Not in any registry: the image is only ever imported. */
export const pauseImageName = "localhost/orch/pause:1";

const run = promisify(execFile);
const timeoutMilliseconds = 30_000;

export const thisArchitecture = (): PauseArchitecture | undefined =>
  ({ x64: "amd64", arm64: "arm64" } as const)[process.arch as string];

interface TarEntry {
  readonly name: string;
  readonly body: Buffer;
  readonly mode?: number;
}

/** Returns the archive, which is reproducible. */
export function pauseImage(architecture: PauseArchitecture): Buffer {
  const layer = tar([{ name: "pause", body: pauseProgram(architecture), mode: 0o755 }]);
  const blobs: Buffer[] = [];
  const blob = (mediaType: string, body: Buffer) => {
    blobs.push(body);
    return { mediaType, digest: `sha256:${digest(body)}`, size: body.length };
  };
  const config = {
    architecture,
    os: "linux",
    config: { User: "65535:65535", Entrypoint: ["/pause"], WorkingDir: "/" },
    rootfs: { type: "layers", diff_ids: [`sha256:${digest(layer)}`] },
  };
  const manifest = {
    schemaVersion: 2,
    mediaType: "application/vnd.oci.image.manifest.v1+json",
    config: blob("application/vnd.oci.image.config.v1+json", json(config)),
    layers: [blob("application/vnd.oci.image.layer.v1.tar", layer)],
  };
  const index = {
    schemaVersion: 2,
    manifests: [
      {
        ...blob(manifest.mediaType, json(manifest)),
        platform: { architecture, os: "linux" },
        annotations: { "io.containerd.image.name": pauseImageName },
      },
    ],
  };
  return tar([
    { name: "oci-layout", body: json({ imageLayoutVersion: "1.0.0" }) },
    { name: "index.json", body: json(index) },
    ...blobs.map((body) => ({ name: `blobs/sha256/${digest(body)}`, body })),
  ]);
}

/** Imports the image into the containerd at this socket; the archive is written to `file`. */
export async function importPauseImage(socket: string, file: string): Promise<void> {
  const architecture = thisArchitecture();
  if (!architecture) throw new Error(`there is no sandbox image for the architecture ${process.arch}`);
  await writeFile(file, pauseImage(architecture), { mode: 0o600 });
  await run("ctr", ["--address", socket, "--namespace", containerdNamespace, "images", "import", file], {
    timeout: timeoutMilliseconds,
    env: { PATH: systemPath },
  });
}

const digest = (bytes: Buffer): string => createHash("sha256").update(bytes).digest("hex");
const json = (value: unknown): Buffer => Buffer.from(JSON.stringify(value));

const blockBytes = 512;

function tar(entries: readonly TarEntry[]): Buffer {
  const parts = entries.flatMap(({ name, body, mode = 0o644 }) => {
    const padding = Buffer.alloc((blockBytes - (body.length % blockBytes)) % blockBytes);
    return [tarHeader(name, body.length, mode), body, padding];
  });
  return Buffer.concat([...parts, Buffer.alloc(2 * blockBytes)]);
}

/** Builds a ustar header: numbers are octal text, and the checksum counts its own field as blanks. */
function tarHeader(name: string, size: number, mode: number): Buffer {
  const header = Buffer.alloc(blockBytes);
  const octal = (value: number, at: number, length: number): void =>
    void header.write(`${value.toString(8).padStart(length - 1, "0")}\0`, at, "latin1");
  header.write(name, 0, "latin1");
  octal(mode, 100, 8);
  octal(0, 108, 8);
  octal(0, 116, 8);
  octal(size, 124, 12);
  octal(0, 136, 12);
  header.write("        0", 148, "latin1");
  header.write("ustar\u000000", 257, "latin1");
  octal(
    header.reduce((sum, byte) => sum + byte, 0),
    148,
    7,
  );
  return header;
}
