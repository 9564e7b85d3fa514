// Mounting and unmounting, through the system's own programs, and what is mounted where, from the kernel's
// own list.
import { execFile } from "node:child_process";
import { mkdir, readFile } from "node:fs/promises";
import { promisify } from "node:util";

export interface Mounter {
  tmpfs(target: string, options: { readonly sizeBytes?: number; readonly mode: string }): Promise<void>;
  hugetlbfs(target: string, pageSize: string): Promise<void>;
  /** The source may be a path below /proc that stands for an open file. */
  bind(source: string, target: string): Promise<void>;
  /** Ended by the signal: a server that does not answer is waited for by nobody else. */
  network(
    type: string,
    source: string,
    target: string,
    options: readonly string[],
    signal?: AbortSignal,
  ): Promise<void>;
  makeShared(target: string): Promise<void>;
  unmount(target: string): Promise<void>;
  /** Rejects when a path lies on a server that does not answer; touches nothing itself that could hang. */
  answers(path: string): Promise<void>;
  /** The kernel's list of mounts. */
  mountInfo(): Promise<string>;
  /** Mount points at or below a path, in the order in which they were mounted. */
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
 * Needs the rights of root. The second parameter runs the programs, where there is a cheaper way than from
 * this process.
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
    // A server that does not answer must not hold up what is local.
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
      // One whose server is gone may never end: it is given some time, and is then detached by force.
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

/** File systems whose server may stop to answer. */
const networkTypes = /^(nfs4?|cifs|smb3|smbfs|ceph|glusterfs|9p|afs|fuse(\..+)?)$/;

/** Whether a path lies on a file system of the network: only a process that can be killed may touch it. */
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
  // Nearly always nothing is mounted there, and only names with blanks and the like are written in another
  // way.
  if (!/[\s\\#]/.test(path) && !mountinfo.includes(path)) return [];
  return mountinfo
    .split("\n")
    .map((line) => unescaped(line.split(" ")[4] ?? ""))
    .filter((point) => point === path || point.startsWith(`${path}/`));
}

/** Blanks and the like are written as three octal digits. */
const unescaped = (text: string): string =>
  text.replaceAll(/\\([0-7]{3})/g, (_, digits: string) => String.fromCodePoint(Number.parseInt(digits, 8)));
