// Fills a directory from a repository with the system's git. Repository content is not trusted: only network
// protocols are allowed, never local paths or helper programs, and nothing in the repository is executed.
import { execFile } from "node:child_process";
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import type { Volume } from "#api";

/** Runs git in a directory; rejects with its output on failure. */
export type Git = (folder: string, args: readonly string[]) => Promise<void>;

/** An invalid or unsafe gitRepo volume. */
export class GitVolumeError extends Error {
  override readonly name = "GitRefusal";
}

const timeLimitMilliseconds = 120_000;
const maxOutputBytes = 64 * 1024;
const safeOptions = ["-c", "core.hooksPath=/dev/null", "-c", "core.fsmonitor=false"];
/** Password prompts are disabled. */
const environment = { GIT_ALLOW_PROTOCOL: "http:https:git:ssh", GIT_TERMINAL_PROMPT: "0", LC_ALL: "C" };

export const systemGit: Git = (folder, args) =>
  new Promise((resolve, reject) => {
    const given = {
      cwd: folder,
      timeout: timeLimitMilliseconds,
      maxBuffer: maxOutputBytes,
      env: { ...process.env, ...environment },
    };
    execFile("git", [...safeOptions, ...args], given, (error, stdout, stderr) => {
      if (!error) return resolve();
      const end = typeof error.code === "number" ? `exit status ${error.code}` : error.message;
      reject(new Error(`failed to exec 'git ${args.join(" ")}': ${stdout}${stderr}: ${end}`));
    });
  });

/** Clones into the directory and checks out the requested revision. */
export async function fillFromGit(
  git: Git,
  folder: string,
  { repository, revision = "", directory = "" }: NonNullable<Volume["gitRepo"]>,
): Promise<void> {
  for (const [name, text] of Object.entries({ repository, revision, directory }))
    if (text.startsWith("-"))
      throw new GitVolumeError(`${JSON.stringify(text)} is an invalid value for ${name}`);
  const into = directory === "" ? "" : join(directory);
  // A nested directory could lie inside `.git`, where files such as hooks are executed.
  if (into.includes("/") || into.includes("\\") || into === ".." || into === ".git")
    throw new GitVolumeError(
      `${JSON.stringify(directory)} is an invalid directory, it must not contain a directory separator`,
    );
  await git(folder, ["clone", "--", repository, ...(directory ? [directory] : [])]);
  if (revision === "") return;
  const found = await readdir(folder);
  if (into !== "." && found.length !== 1)
    throw new Error(`unexpected directory contents: ${found.join(" ")}`);
  const checkout = into === "." ? folder : join(folder, found[0]!);
  await git(checkout, ["checkout", revision]);
  await git(checkout, ["reset", "--hard"]);
}
