// Fills a folder from a repository with the system's git. What a repository holds is not trusted: only
// servers are asked, never paths of this node or programs, and nothing in it is run.
import { execFile } from "node:child_process";
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import type { Volume } from "#api";

/** Runs git in a folder; gives what it said, or rejects with that. */
export type Git = (folder: string, args: readonly string[]) => Promise<void>;

/** What is asked for makes no sense, or is not safe. */
export class GitRefusal extends Error {
  override readonly name = "GitRefusal";
}

const timeLimitMilliseconds = 120_000;
const longestOutput = 64 * 1024;
const careful = ["-c", "core.hooksPath=/dev/null", "-c", "core.fsmonitor=false"];
/** Nobody is there to be asked for a password. */
const surroundings = { GIT_ALLOW_PROTOCOL: "http:https:git:ssh", GIT_TERMINAL_PROMPT: "0", LC_ALL: "C" };

export const systemGit: Git = (folder, args) =>
  new Promise((resolve, reject) => {
    const given = {
      cwd: folder,
      timeout: timeLimitMilliseconds,
      maxBuffer: longestOutput,
      env: { ...process.env, ...surroundings },
    };
    execFile("git", [...careful, ...args], given, (error, stdout, stderr) => {
      if (!error) return resolve();
      const end = typeof error.code === "number" ? `exit status ${error.code}` : error.message;
      reject(new Error(`failed to exec 'git ${args.join(" ")}': ${stdout}${stderr}: ${end}`));
    });
  });

/** Clones into the folder, and leaves the revision there that is asked for. */
export async function fillFromGit(
  git: Git,
  folder: string,
  { repository, revision = "", directory = "" }: NonNullable<Volume["gitRepo"]>,
): Promise<void> {
  for (const [name, text] of Object.entries({ repository, revision, directory }))
    if (text.startsWith("-")) throw new GitRefusal(`${JSON.stringify(text)} is an invalid value for ${name}`);
  const into = directory === "" ? "" : join(directory);
  // Deeper down could be inside of what git keeps for itself, where files are programs.
  if (into.includes("/") || into.includes("\\") || into === ".." || into === ".git")
    throw new GitRefusal(
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
