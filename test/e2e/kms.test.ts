// The key service dies and hangs under load: writes that need it fail soon and clearly, reads continue, and
// everything recovers with the service.
import assert from "node:assert/strict";
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { startServer } from "#apiserver";
import { dialectNamed } from "#dialect";
import { until } from "#kit";

const folder = mkdtempSync(join(tmpdir(), "kms-"));
const socket = join(folder, "kms.sock");
let service: ChildProcess | undefined;
after(() => {
  service?.kill("SIGKILL");
  rmSync(folder, { recursive: true, force: true });
});

async function startService(): Promise<void> {
  rmSync(socket, { force: true });
  const program = join(import.meta.dirname, "..", "kit", "kms-program.ts");
  const child = spawn(process.execPath, ["--conditions=orch-source", program, socket], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  service = child;
  await once(child.stdout, "data");
}
async function killService(): Promise<void> {
  const gone = once(service!, "exit");
  service!.kill("SIGKILL");
  await gone;
}

/** Stops the process with SIGSTOP; resolves once the kernel has stopped it. */
async function stopService(): Promise<void> {
  service!.kill("SIGSTOP");
  const state = (): string => readFileSync(`/proc/${service!.pid!}/stat`, "utf8").split(") ")[1]![0]!;
  await until("the key service to stop", async () => state() === "T");
}

const { wire } = dialectNamed("orch")!;
function writeConfig(): string {
  const file = join(folder, "encryption.json");
  const kms = (apiVersion: string): object => ({
    kms: { apiVersion, name: `box-${apiVersion}`, endpoint: `unix://${socket}`, timeout: "500ms" },
  });
  writeFileSync(
    file,
    JSON.stringify({
      apiVersion: `apiserver.config.${wire.groupSuffix}/v1`,
      kind: "EncryptionConfiguration",
      resources: [
        { resources: ["secrets"], providers: [kms("v1")] },
        { resources: ["configmaps"], providers: [kms("v2")] },
      ],
    }),
  );
  return file;
}

const secrets = "/api/v1/namespaces/default/secrets";
const maps = "/api/v1/namespaces/default/configmaps";

test("a key service that is killed or hangs under load stops writes that need it, and nothing else", async () => {
  await startService();
  await using server = await startServer({
    store: "memory",
    flags: [`--encryption-provider-config=${writeConfig()}`],
  });
  const ask = async (method: string, path: string, body?: object) => {
    const answer = await server.inject({
      method,
      path,
      headers: { "content-type": "application/json" },
      ...(body && { body: JSON.stringify(body) }),
    });
    return { status: answer.status, text: Buffer.from(await answer.bytes()).toString() };
  };
  let made = 0;
  const acknowledged = new Set<string>();
  const write = async () => {
    const name = `s-${++made}`;
    const answer = await ask("POST", secrets, { metadata: { name }, stringData: { name } });
    if (answer.status === 201) acknowledged.add(name);
    return answer;
  };
  const works = async (): Promise<boolean> => (await write()).status === 201;

  // A load that tolerates failing writes; what was written is checked at the end.
  const wrong: string[] = [];
  let stopping = false;
  const load = Array.from({ length: 4 }, async () => {
    while (!stopping) {
      const { status, text } = await write();
      if (status !== 201 && status !== 500) wrong.push(`${status} ${text}`);
      await new Promise((resolve) => setImmediate(resolve));
    }
  });

  try {
    await until("a first secret", works);
    const map = { metadata: { name: "m" }, data: { a: "b" } };
    await until("a first map", async () => (await ask("POST", maps, map)).status === 201);

    const withoutService = async (): Promise<void> => {
      const answers = await Promise.all(Array.from({ length: 20 }, write));
      for (const { status, text } of answers) {
        assert.equal(status, 500);
        const { message } = JSON.parse(text) as { message: string };
        assert.match(
          message,
          /^Internal error occurred: rpc error: code = (Unavailable|DeadlineExceeded) desc = /,
        );
      }
      // From the cache, and from the store: the data keys are cached.
      for (const path of [`${secrets}/s-1?resourceVersion=0`, `${secrets}/s-1`, `${maps}/m`, secrets])
        assert.equal((await ask("GET", path)).status, 200, path);
      // Version 2 has a local data key, which remains valid for a while.
      assert.equal(
        (await ask("PUT", `${maps}/m`, { metadata: { name: "m" }, data: { a: "c" } })).status,
        200,
      );
    };
    await killService();
    await withoutService();
    await startService();
    await until("secrets after a restart", works);

    await stopService();
    await withoutService();
    service!.kill("SIGCONT");
    await until("secrets after a pause", works);
  } finally {
    stopping = true;
  }
  await Promise.all(load);
  assert.deepEqual(wrong, []);
  const { items } = JSON.parse((await ask("GET", secrets)).text) as {
    items: { metadata: { name: string }; data: { name: string } }[];
  };
  for (const { metadata, data } of items)
    assert.equal(Buffer.from(data.name, "base64").toString(), metadata.name);
  assert.deepEqual(new Set(items.map(({ metadata }) => metadata.name)), acknowledged);
});
