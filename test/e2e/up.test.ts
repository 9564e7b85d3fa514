// `orch up`, from the first start to the purge, as a person would use it.
import assert from "node:assert/strict";
import { type ChildProcess, execFile, spawn } from "node:child_process";
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { type RequestOptions, request } from "node:https";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { promisify } from "node:util";
import { apiClient, connectionOf, https, kinds, readClientConfig } from "#client";
import { dialects } from "#dialect";
import { eventually, freePort, kubectl, kubectlProgram, needs } from "#kit";

const orch = join(import.meta.dirname, "..", "..", "bin", "orch");
const folder = mkdtempSync(join(tmpdir(), "orch-up-e2e-"));
const data = join(folder, "cluster");
const started: ChildProcess[] = [];
after(() => {
  for (const child of started) if (child.exitCode === null) child.kill("SIGKILL");
  rmSync(folder, { recursive: true, force: true });
});

interface Running {
  readonly child: ChildProcess;
  text(): string;
  /** Resolves when the text shows up; rejects when the program ends before. */
  says(text: string): Promise<void>;
  readonly ended: Promise<number | null>;
}

function up(...flags: string[]): Running {
  const child = spawn(orch, ["up", `--data-dir=${data}`, "--agent=false", ...flags], {
    stdio: ["ignore", "pipe", "pipe"],
  });
  started.push(child);
  let text = "";
  let look = (): void => undefined;
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding("utf8").on("data", (chunk: string) => {
      text += chunk;
      look();
    });
  }
  // The error contains the whole output.
  const ended = new Promise<number | null>((resolve) => child.once("close", (code) => resolve(code)));
  const says = (wanted: string): Promise<void> =>
    new Promise((resolve, reject) => {
      look = () => {
        if (text.includes(wanted)) resolve();
      };
      look();
      void ended.then(() => reject(new Error(`it ended without saying ${JSON.stringify(wanted)}:\n${text}`)));
    });
  return { child, text: () => text, says, ended };
}
/** Exit code and output of a program, as one text or two. */
interface Ended {
  readonly code: number | null;
  readonly text?: string;
  readonly stdout?: string;
  readonly stderr?: string;
}
const run = async (...args: string[]): Promise<{ code: number; text: string }> => {
  try {
    const { stdout, stderr } = await promisify(execFile)(orch, args, { timeout: 240_000 });
    return { code: 0, text: stdout + stderr };
  } catch (error) {
    const { code, stdout = "", stderr = "" } = error as { code: number; stdout?: string; stderr?: string };
    return { code, text: stdout + stderr };
  }
};

/** Returns the one-time link to the page. */
const linkIn = (text: string): URL => new URL(/https:\S+\/ui\/#code=\S+/.exec(text)![0]);

/** Redeems the link's code and returns the response's status; asserts that a token it returns is valid. */
async function opened(link: URL): Promise<number> {
  const ca = readFileSync(join(data, "pki", "ca.crt"), "utf8");
  const call = (
    path: string,
    options: RequestOptions,
    body?: string,
  ): Promise<[status: number, text: string]> =>
    new Promise((resolve, reject) => {
      const sent = request(new URL(path, link), { ca, ...options }, (reply) => {
        let text = "";
        reply.setEncoding("utf8").on("data", (chunk: string) => (text += chunk));
        reply.on("end", () => resolve([reply.statusCode ?? 0, text]));
      });
      sent.on("error", reject).end(body);
    });
  const code = new URLSearchParams(link.hash.slice(1)).get("code");
  const json = { "content-type": "application/json" };
  const [status, text] = await call("/ui/login", { method: "POST", headers: json }, JSON.stringify({ code }));
  if (status !== 200) return status;
  const { token } = JSON.parse(text) as { token: string };
  return (await call("/api/v1/namespaces", { headers: { authorization: `Bearer ${token}` } }))[0];
}

test(
  "a cluster starts, is used, stops on Ctrl-C, keeps its data, is backed up and is purged",
  needs(kubectlProgram),
  async () => {
    const port = await freePort();
    const first = up(`--port=${port}`);
    await first.says("Stop with Ctrl-C");
    const config = join(data, "admin.conf");
    assert.ok(first.text().includes(config));
    assert.equal(statSync(config).mode & 0o777, 0o600);
    // A copy, because kubectl keeps its cache next to the file.
    const copy = join(folder, "admin.conf");
    copyFileSync(config, copy);
    const use = (...args: string[]) => kubectl(copy, args);
    const done = ({ code, stdout = "", stderr = "", text = stdout + stderr }: Ended): string => {
      assert.equal(code, 0, text);
      return text;
    };
    done(await use("create", "configmap", "kept"));

    const link = linkIn(first.text());
    assert.equal(await opened(link), 200);
    assert.equal(await opened(link), 401);
    assert.equal(await opened(linkIn(done(await run("ui", `--data-dir=${data}`)))), 200);

    const second = await run("up", `--data-dir=${data}`);
    assert.equal(second.code, 1);
    assert.match(second.text, /is already running/);

    const backup = join(folder, "backup.db");
    done(await run("store", "backup", backup, `--data-dir=${data}`));
    assert.equal((await run("store", "backup", backup, `--data-dir=${data}`)).code, 1);

    first.child.kill("SIGINT");
    assert.equal(await first.ended, 0, first.text());

    const again = up();
    await again.says(`ready on https://127.0.0.1:${port}`);
    await again.says("Stop with Ctrl-C");
    assert.match(done(await use("get", "configmap", "kept", "-o", "name")), /configmap\/kept/);
    assert.match(done(await run("down", `--data-dir=${data}`)), /the cluster is down/);
    assert.equal(await again.ended, 0, again.text());

    const restored = join(folder, "restored");
    done(await run("store", "restore", backup, `--data-dir=${restored}`));
    assert.ok(existsSync(join(restored, "store")));

    done(await run("down", "--purge", `--data-dir=${data}`));
    assert.deepEqual(existsSync(data) ? readdirSync(data) : undefined, undefined);
  },
);

test("feature gates take effect in the API server and the controllers of a running cluster", async () => {
  const cluster = up(
    `--port=${await freePort()}`,
    "--feature-gates=SidecarContainers=true,JobReadyPods=false",
  );
  await cluster.says("Stop with Ctrl-C");
  const transport = https(connectionOf(readClientConfig(join(data, "admin.conf"))));
  const client = apiClient(transport, dialects.orch);
  const metadata = { name: "gated", namespace: "default" };
  const container = { name: "c", image: "registry.example/c:1" };
  const { spec } = await eventually(() =>
    client
      .of(kinds.pods)
      .create({
        metadata,
        spec: {
          containers: [container],
          initContainers: [{ ...container, name: "i", restartPolicy: "Always" }],
        },
      } as never)
      // The service account of pods is created by a controller.
      .catch(() => undefined),
  );
  assert.equal(spec.initContainers?.[0]?.restartPolicy, "Always");
  const template = { spec: { restartPolicy: "Never", containers: [container] } };
  await client.of(kinds.jobs).create({ metadata, spec: { template } } as never);
  const { status } = await eventually(async () => {
    const job = await client.of(kinds.jobs).get("gated", { namespace: "default" });
    return job.status.active === 1 && job;
  });
  assert.equal(status.ready, undefined);
  transport.close();
  assert.equal((await run("down", "--purge", `--data-dir=${data}`)).code, 0);
  assert.equal(await cluster.ended, 0);
});

test("a server that cannot start is reported with its last output", async () => {
  const broken = up("--", "--max-requests-inflight=many");
  assert.equal(await broken.ended, 1);
  assert.match(broken.text(), /invalid argument "many" for "--max-requests-inflight" flag/);
  assert.ok(readFileSync(join(data, "logs", "apiserver.log"), "utf8").includes("--max-requests-inflight"));
});

/** Creates the folder of a cluster whose agent ran pods on a runtime that no longer exists. */
function leftBehind(name: string): { readonly root: string; readonly note: string } {
  const root = join(folder, name);
  const note = join(root, "running.json");
  mkdirSync(join(root, "agent", "pods", "some-uid"), { recursive: true });
  writeFileSync(
    note,
    JSON.stringify({
      pid: 1,
      port: 1,
      dialect: "kubernetes",
      runtimeEndpoint: "unix:///nonexistent/runtime.sock",
      up: false,
    }),
  );
  return { root, note };
}

test("a failed start keeps the records that a purge needs", async () => {
  const { root, note } = leftBehind("failing");
  assert.equal(
    (
      await run(
        "up",
        `--data-dir=${root}`,
        "--agent=false",
        `--port=${await freePort()}`,
        "--",
        "--max-requests-inflight=many",
      )
    ).code,
    1,
  );
  const {
    dialect,
    runtimeEndpoint,
    up: isUp,
  } = JSON.parse(readFileSync(note, "utf8")) as Record<string, unknown>;
  assert.deepEqual(
    [dialect, runtimeEndpoint, isUp],
    ["kubernetes", "unix:///nonexistent/runtime.sock", false],
  );
});

test("a purge that cannot ask the runtime removes nothing", async () => {
  const { root, note } = leftBehind("unreachable");
  const { code, text } = await run("down", "--purge", `--data-dir=${root}`);
  assert.equal(code, 1);
  assert.match(text, /error: containers or mounts may remain, and no files were removed: /);
  assert.ok(existsSync(note) && existsSync(join(root, "agent", "pods", "some-uid")));
});

const commands: [args: string[], code: number, text: RegExp][] = [
  [["help"], 0, /orch up \[flags\]/],
  [["version"], 0, /v\d+\.\d+/],
  [[], 1, /Usage/],
  [["upp"], 1, /did you mean up/],
  [["up", "--help"], 0, /--install-runtime/],
  [["up", "--no-such-flag"], 1, /--no-such-flag/],
  [["down", "--help"], 0, /--purge/],
  [["down", "--data-dir=/nonexistent/orch"], 0, /no cluster is running/],
  [
    ["up", "--agent=false", "--data-dir=/dev/null"],
    1,
    /^error: \/dev\/null cannot be used: \/dev\/null is not a directory\n$/,
  ],
  [["up", "--agent=false", "--data-dir=/proc/orch"], 1, /^error: \/proc\/orch cannot be used: .*\n$/],
  [["store"], 1, /orch store backup/],
  [
    ["store", "--data-dir", "/nonexistent/orch", "backup", "x"],
    1,
    /there is no store in \/nonexistent\/orch/,
  ],
  [["store", "backup", "x", "--data-dri=y"], 1, /did you mean --data-dir/],
  [["store", "backup"], 1, /takes one file/],
  [["store", "lose", "x"], 1, /unknown command: orch store lose/],
  [["config", "help"], 0, /orch config check/],
];
for (const [args, code, text] of commands) {
  test(`orch ${args.join(" ")} ends with ${code}`, async () => {
    const answer = await run(...args);
    assert.equal(answer.code, code, answer.text);
    assert.match(answer.text, text);
  });
}
