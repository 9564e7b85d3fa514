// Mounts and unmounts with the system's programs, and reads existing mounts from the kernel's mountinfo.
import { execFile } from "node:child_process";
import { mkdir, readFile } from "node:fs/promises";
import { promisify } from "node:util";

export interface Mounter {
  tmpfs(target: string, options: { readonly sizeBytes?: number; readonly mode: string }): Promise<void>;
  hugetlbfs(target: string, pageSize: string): Promise<void>;
  /** Bind mounts the source, which may be a path below /proc that refers to an open file descriptor. */
  bind(source: string, target: string): Promise<void>;
  /** Mounts a network file system. Aborted by the signal, since the file server may never respond. */
  network(
    type: string,
    source: string,
    target: string,
    options: readonly string[],
    signal?: AbortSignal,
  ): Promise<void>;
  makeShared(target: string): Promise<void>;
  unmount(target: string): Promise<void>;
  /** Rejects if the path lies on a file server that does not respond; never blocks on the path itself. */
  answers(path: string): Promise<void>;
  /** Returns the content of mountinfo. */
  mountInfo(): Promise<string>;
  /** Returns the mount points at or below a path, in mount order. */
  below(path: string): Promise<readonly string[]>;
}

const run = promisify(execFile);
const timeLimitMilliseconds = 120_000;
const unmountMilliseconds = 30_000;
const answerMilliseconds = 10_000;

type Execute = (command: string, args: readonly string[]) => Promise<void>;

const directly =
  (timeout: number, signal?: AbortSignal): Execute =>
  async (command, args) =>
    void (await run(command, [...args], {
      timeout,
      killSignal: "SIGKILL",
      env: { ...process.env, LC_ALL: "C" },
      ...(signal && { signal }),
    }));

/**
 * Returns a mounter that requires root privileges. The second parameter runs the programs, if there is a
 * cheaper way than forking this process.
 */
export function systemMounter(
  program = "mount",
  execute: Execute = directly(timeLimitMilliseconds),
): Mounter {
  const callBy = async (by: Execute, command: string, ...args: readonly string[]): Promise<void> => {
    try {
      await by(command, args);
    } catch (error) {
      const { stderr, message, code } = error as { stderr?: string; message: string; code?: unknown };
      const [what, given] =
        command === "umount" ? ["unmount", ""] : ["mount", `Mounting command: ${command}\n`];
      const end = typeof code === "number" ? `exit status ${code}` : message;
      throw new Error(
        `${what} failed: ${end}\n${given}${what === "mount" ? "Mounting" : "Unmounting"} arguments: ${args.join(" ")}\nOutput: ${stderr?.trim() || message}\n`,
        {
          cause: error,
        },
      );
    }
  };
  const call = (command: string, ...args: readonly string[]): Promise<void> =>
    callBy(execute, command, ...args);
  const mount = async (target: string, ...args: readonly string[]): Promise<void> => {
    await mkdir(target, { recursive: true, mode: 0o750 });
    await call(program, ...args, target);
  };
  return {
    tmpfs: (target, { sizeBytes, mode }) =>
      mount(
        target,
        "-t",
        "tmpfs",
        "-o",
        `mode=${mode}${sizeBytes === undefined ? "" : `,size=${sizeBytes}`}`,
        "tmpfs",
      ),
    hugetlbfs: (target, pageSize) => mount(target, "-t", "hugetlbfs", "-o", `pagesize=${pageSize}`, "nodev"),
    bind: (source, target) => call(program, "--no-canonicalize", "-o", "bind", source, target),
    // Runs directly rather than in the shared shell, so that a server that does not respond cannot delay
    // local mounts.
    network: async (type, source, target, options, signal) => {
      await mkdir(target, { recursive: true, mode: 0o750 });
      await callBy(
        directly(timeLimitMilliseconds, signal),
        program,
        "-t",
        type,
        ...(options.length > 0 ? ["-o", options.join(",")] : []),
        source,
        target,
      );
    },
    makeShared: (target) => call(program, "--make-rshared", target),
    unmount: async (target) => {
      if (!isNetworkMount(await mountInfo(), target))
        return await call("umount", "--no-canonicalize", target);
      // Unmounting may hang if the server is gone: after a timeout the mount is detached by force.
      await callBy(directly(unmountMilliseconds), "umount", "--no-canonicalize", target).catch(() =>
        callBy(directly(unmountMilliseconds), "umount", "--no-canonicalize", "--force", "--lazy", target),
      );
    },
    answers: async (path) => {
      if (!isNetworkMount(await mountInfo(), path)) return;
      await directly(answerMilliseconds)("stat", ["--file-system", path]).catch((error: unknown) => {
        throw new Error(`the file server behind ${path} does not answer`, { cause: error });
      });
    },
    mountInfo,
    below: async (path) => mountPointsBelow(await mountInfo(), path),
  };
}

const mountInfo = (): Promise<string> => readFile("/proc/self/mountinfo", "utf8");

/** File system types whose server may stop responding. */
const networkTypes = /^(nfs4?|cifs|smb3|smbfs|ceph|glusterfs|9p|afs|fuse(\..+)?)$/;

/** Reports whether a path lies on a network file system, which only a killable child process may access. */
export function isNetworkMount(mountinfo: string, path: string): boolean {
  let best = { point: "", type: "" };
  for (const line of mountinfo.split("\n")) {
    const fields = line.split(" ");
    const point = unescaped(fields[4] ?? "");
    if (point === "" || !(path === point || path.startsWith(point === "/" ? "/" : `${point}/`))) continue;
    if (point.length >= best.point.length) best = { point, type: fields[fields.indexOf("-") + 1] ?? "" };
  }
  return networkTypes.test(best.type);
}

export function mountPointsBelow(mountinfo: string, path: string): string[] {
  // Fast path: usually nothing is mounted there, and only names with blanks and the like are escaped.
  if (!/[\s\\#]/.test(path) && !mountinfo.includes(path)) return [];
  return mountinfo
    .split("\n")
    .map((line) => unescaped(line.split(" ")[4] ?? ""))
    .filter((point) => point === path || point.startsWith(`${path}/`));
}

/** Blanks and similar characters are escaped as three octal digits. */
const unescaped = (text: string): string =>
  text.replaceAll(/\\([0-7]{3})/g, (_, digits: string) => String.fromCodePoint(Number.parseInt(digits, 8)));
