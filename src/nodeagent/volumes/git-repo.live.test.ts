import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { promisify } from "node:util";
import { needs } from "#kit";
import { fillFromGit, systemGit } from "./git-repo.ts";

const run = promisify(execFile);

async function emptyFolder(t: TestContext): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "git-repo-"));
  t.after(() => rm(folder, { recursive: true, force: true }));
  return folder;
}

/** Creates a repository with two versions, served by a plain web server. */
async function offered(t: TestContext): Promise<{ url: string; path: string; first: string; work: string }> {
  const root = await emptyFolder(t);
  const [source, path, work] = [join(root, "source"), join(root, "tools.git"), join(root, "work")];
  await Promise.all([mkdir(source), mkdir(work)]);
  const git = (...args: string[]): Promise<{ stdout: string }> =>
    run("git", ["-C", source, "-c", "user.name=a", "-c", "user.email=a@example.com", ...args]);
  await git("init", "-q");
  await writeFile(join(source, "file"), "one");
  await git("add", ".");
  await git("commit", "-qm", "one");
  const first = (await git("rev-parse", "HEAD")).stdout.trim();
  await writeFile(join(source, "file"), "two");
  await git("commit", "-qam", "two");
  await run("git", ["clone", "-q", "--bare", source, path]);
  await run("git", ["-C", path, "update-server-info"]);
  const server = createServer((request, response) => {
    readFile(join(root, new URL(request.url ?? "/", "http://x").pathname)).then(
      (bytes) => response.end(bytes),
      () => response.writeHead(404).end(),
    );
  }).listen(0, "127.0.0.1");
  t.after(() => void server.close());
  await new Promise((resolve) => server.once("listening", resolve));
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/tools.git`, path, first, work };
}

test("the newest version is cloned into a directory named after the repository", needs("git"), async (t) => {
  const { url, work } = await offered(t);
  await fillFromGit(systemGit, work, { repository: url });
  assert.equal(await readFile(join(work, "tools/file"), "utf8"), "two");
});

test("a revision is checked out, with directory . into the volume itself", needs("git"), async (t) => {
  const { url, work, first } = await offered(t);
  await fillFromGit(systemGit, work, { repository: url, revision: first, directory: "." });
  assert.equal(await readFile(join(work, "file"), "utf8"), "one");
});

test("a revision is checked out into a given directory", needs("git"), async (t) => {
  const { url, work, first } = await offered(t);
  await fillFromGit(systemGit, work, { repository: url, revision: first, directory: "here" });
  assert.equal(await readFile(join(work, "here/file"), "utf8"), "one");
});

test("git's output is reported when it fails", needs("git"), async (t) => {
  const { url, work } = await offered(t);
  await assert.rejects(
    fillFromGit(systemGit, work, { repository: `${url}x` }),
    /^Error: failed to exec 'git clone -- http.*x': .*not found.*: exit status 128$/s,
  );
});

test("repositories on the node itself are refused", needs("git"), async (t) => {
  const { path, work } = await offered(t);
  await assert.rejects(fillFromGit(systemGit, work, { repository: path }), /transport 'file' not allowed/);
  await assert.rejects(
    fillFromGit(systemGit, work, { repository: "ext::sh -c true" }),
    /transport 'ext' not allowed/,
  );
});
