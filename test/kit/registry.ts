// An image registry on loopback with images that the tests build from a static busybox: nothing is
// downloaded.
import { execFile } from "node:child_process";
import { createHash } from "node:crypto";
import { chmod, copyFile, mkdir, mkdtemp, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { type Server, createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { programPath } from "./needs.ts";

const run = promisify(execFile);

/** Command, environment and files of an image. */
export interface ImagePlan {
  readonly entrypoint?: readonly string[];
  readonly command?: readonly string[];
  readonly env?: readonly string[];
  readonly user?: string;
  readonly workingDir?: string;
  /** Executable files to add to the busybox system, by path. */
  readonly files?: Readonly<Record<string, string | Uint8Array>>;
}

export interface Registry {
  readonly host: string;
  /** Adds an image and returns its full name. `name` is `repository:tag`. */
  add(name: string, plan: ImagePlan): Promise<string>;
  /** Requests so far, as `GET /v2/…`. */
  readonly requests: string[];
  /** From now on requires this user and password; undefined removes the requirement. */
  protect(credentials: { readonly username: string; readonly password: string } | undefined): void;
  stop(): Promise<void>;
}

const digestOf = (bytes: Uint8Array): string => `sha256:${createHash("sha256").update(bytes).digest("hex")}`;

/** Starts an empty registry. */
export async function startRegistry(): Promise<Registry> {
  const blobs = new Map<string, Buffer>();
  const manifests = new Map<string, Buffer>();
  const requests: string[] = [];
  let expected: string | undefined;
  const server = createServer((request, response) => {
    requests.push(`${request.method} ${request.url}`);
    const give = (status: number, body: Buffer, headers: Record<string, string> = {}): void => {
      response.writeHead(status, { "content-length": String(body.length), ...headers });
      response.end(request.method === "HEAD" ? undefined : body);
    };
    if (expected !== undefined && request.headers.authorization !== expected)
      return give(401, Buffer.from("{}"), { "www-authenticate": 'Basic realm="test"' });
    if (request.url === "/v2/") return give(200, Buffer.from("{}"));
    const [, repository = "", kind, reference = ""] =
      /^\/v2\/(.+)\/(manifests|blobs)\/([^/?]+)/.exec(request.url ?? "") ?? [];
    const found = kind === "blobs" ? blobs.get(reference) : manifests.get(`${repository}:${reference}`);
    if (!found)
      return give(
        404,
        Buffer.from(
          JSON.stringify({ errors: [{ code: kind === "blobs" ? "BLOB_UNKNOWN" : "MANIFEST_UNKNOWN" }] }),
        ),
      );
    return give(200, found, {
      "docker-content-digest": digestOf(found),
      "content-type": kind === "blobs" ? "application/octet-stream" : manifestType,
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const host = `127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    host,
    requests,
    add: async (name, plan) => {
      const { blobs: parts, manifest } = await imageParts(plan);
      for (const [digest, bytes] of parts) blobs.set(digest, bytes);
      manifests.set(name, manifest);
      manifests.set(`${name.slice(0, name.lastIndexOf(":"))}:${digestOf(manifest)}`, manifest);
      return `${host}/${name}`;
    },
    protect: (credentials) => {
      expected =
        credentials &&
        `Basic ${Buffer.from(`${credentials.username}:${credentials.password}`).toString("base64")}`;
    },
    stop: () => close(server),
  };
}

const manifestType = "application/vnd.oci.image.manifest.v1+json";

/** The parts of an image: the blobs its manifest names, and the manifest. */
export interface ImageParts {
  readonly blobs: readonly (readonly [digest: string, bytes: Buffer])[];
  readonly manifest: Buffer;
  readonly manifestDigest: string;
  readonly manifestType: string;
}

export async function imageParts(plan: ImagePlan): Promise<ImageParts> {
  const layer = await layerOf(plan.files ?? {});
  const config = Buffer.from(JSON.stringify(configOf(plan, digestOf(layer))));
  const part = (mediaType: string, bytes: Buffer) => ({
    mediaType,
    digest: digestOf(bytes),
    size: bytes.length,
  });
  const manifest = Buffer.from(
    JSON.stringify({
      schemaVersion: 2,
      mediaType: manifestType,
      config: part("application/vnd.oci.image.config.v1+json", config),
      layers: [part("application/vnd.oci.image.layer.v1.tar", layer)],
    }),
  );
  const blobs = [layer, config].map((bytes) => [digestOf(bytes), bytes] as const);
  return { blobs, manifest, manifestDigest: digestOf(manifest), manifestType };
}

function configOf(plan: ImagePlan, layer: string): unknown {
  return {
    architecture: process.arch === "x64" ? "amd64" : process.arch,
    os: "linux",
    config: {
      Env: plan.env ?? ["PATH=/bin:/usr/bin:/sbin"],
      ...(plan.entrypoint && { Entrypoint: plan.entrypoint }),
      ...(plan.command && { Cmd: plan.command }),
      ...(plan.user && { User: plan.user }),
      ...(plan.workingDir && { WorkingDir: plan.workingDir }),
    },
    rootfs: { type: "layers", diff_ids: [layer] },
    history: [{ created_by: "test" }],
  };
}

/** A small root file system: busybox under all its names, a few users, the usual directories. */
async function layerOf(files: Readonly<Record<string, string | Uint8Array>>): Promise<Buffer> {
  const folder = await mkdtemp(join(tmpdir(), "orch-image-"));
  try {
    const root = join(folder, "root");
    const busybox = programPath("busybox")!;
    for (const name of [
      "bin",
      "etc",
      "tmp",
      "root",
      "home",
      "proc",
      "sys",
      "dev",
      "var/run",
      "usr/bin",
      "sbin",
    ])
      await mkdir(join(root, name), { recursive: true });
    await chmod(join(root, "tmp"), 0o1777);
    await copyFile(busybox, join(root, "bin/busybox"));
    await chmod(join(root, "bin/busybox"), 0o755);
    const { stdout } = await run(busybox, ["--list"]);
    for (const applet of stdout.trim().split("\n"))
      if (applet !== "busybox") await symlink("busybox", join(root, "bin", applet));
    await writeFile(
      join(root, "etc/passwd"),
      "root:x:0:0:root:/root:/bin/sh\nuser:x:1001:1001:user:/home:/bin/sh\nnobody:x:65534:65534:nobody:/:/bin/false\n",
    );
    await writeFile(join(root, "etc/group"), "root:x:0:\nuser:x:1001:\nnogroup:x:65534:\n");
    for (const [path, content] of Object.entries(files)) {
      await mkdir(dirname(join(root, path)), { recursive: true });
      await writeFile(join(root, path), content, { mode: 0o755 });
    }
    const archive = join(folder, "layer.tar");
    await run("tar", [
      "--numeric-owner",
      "--owner=0",
      "--group=0",
      "--mtime=@0",
      "--sort=name",
      "-C",
      root,
      "-cf",
      archive,
      ".",
    ]);
    return await readFile(archive);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

const close = (server: Server): Promise<void> =>
  new Promise((resolve) => {
    server.close(() => resolve());
    server.closeAllConnections();
  });
