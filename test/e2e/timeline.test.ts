// The event timeline in the real programs, in both dialects: a user of one namespace, a SIGKILL, and the
// commands.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { request } from "node:https";
import { join } from "node:path";
import { test } from "node:test";
import { dialects, groupName, timelineGroup } from "#dialect";
import { type RunningApiserver, programCommand, startApiserver, until } from "#kit";

type Json = Record<string, unknown>;
type Entry = { readonly type: string; readonly note: string; readonly object: { readonly name: string } };

const base = `/apis/${timelineGroup}/v1`;

/** Sends one request with the given token. */
async function as(
  server: RunningApiserver,
  token: string,
  path: string,
): Promise<{ status: number; body: Json }> {
  const headers = { authorization: `Bearer ${token}` };
  const outgoing = request(`${server.url}${path}`, { ca: server.ca, headers, agent: false });
  outgoing.end();
  const [answer] = (await once(outgoing, "response")) as [AsyncIterable<Buffer> & { statusCode: number }];
  const body = Buffer.concat(await Array.fromAsync(answer)).toString();
  return { status: answer.statusCode, body: JSON.parse(body) as Json };
}

async function must(server: RunningApiserver, method: string, path: string, body?: object): Promise<Json> {
  const answer = await server.call(method, path, body);
  assert.ok(answer.status < 300, `${method} ${path}: ${answer.status} ${answer.body.slice(0, 300)}`);
  return JSON.parse(answer.body) as Json;
}

async function run(words: readonly string[]): Promise<string> {
  const [program, ...first] = programCommand("orch");
  const child = spawn(program!, [...first, ...words], { stdio: ["ignore", "pipe", "pipe"] });
  const [out, err] = await Promise.all([Array.fromAsync(child.stdout), Array.fromAsync(child.stderr)]);
  const text = Buffer.concat(out as Buffer[]).toString();
  assert.equal(
    child.exitCode ?? (await once(child, "exit"))[0],
    0,
    Buffer.concat(err as Buffer[]).toString(),
  );
  return text;
}

for (const dialect of Object.values(dialects))
  test(`the timeline of one namespace, in the dialect ${dialect.name}`, async () => {
    await using server = await startApiserver({
      dialect: dialect.name,
      command: programCommand("orch-apiserver"),
    });
    const group = (name: string): string => groupName(dialect, { group: name, branded: true });
    for (const name of ["mine", "other"])
      await must(server, "POST", "/api/v1/namespaces", { metadata: { name } });
    const core = "/api/v1/namespaces/mine";
    await must(server, "POST", `${core}/serviceaccounts`, { metadata: { name: "viewer" } });
    const { status } = (await must(server, "POST", `${core}/serviceaccounts/viewer/token`, {
      apiVersion: `${group("authentication")}/v1`,
      kind: "TokenRequest",
      spec: {},
    })) as { status: { token: string } };
    const rbac = `/apis/${group("rbac.authorization")}/v1/namespaces/mine`;
    await must(server, "POST", `${rbac}/roles`, {
      metadata: { name: "timeline" },
      rules: [
        {
          apiGroups: [timelineGroup],
          resources: ["timelines", "lanes", "buckets"],
          verbs: ["list", "watch"],
        },
        { apiGroups: [""], resources: ["configmaps"], verbs: ["get"] },
      ],
    });
    await must(server, "POST", `${rbac}/rolebindings`, {
      metadata: { name: "timeline" },
      roleRef: { apiGroup: group("rbac.authorization"), kind: "Role", name: "timeline" },
      subjects: [{ kind: "ServiceAccount", name: "viewer", namespace: "mine" }],
    });
    const map = await must(server, "POST", `${core}/configmaps`, { metadata: { name: "settings" } });
    const note = "<img src=x onerror=alert(1)>\u0000\u202egnp";
    await must(server, "POST", `/apis/${group("events")}/v1/namespaces/mine/events`, {
      metadata: { name: "e" },
      eventTime: "2040-01-01T00:00:00.000000Z",
      type: "Warning",
      reason: "Tested",
      action: "Test",
      note,
      reportingController: "example.com/tester",
      reportingInstance: "tester-1",
      regarding: {
        kind: "ConfigMap",
        namespace: "mine",
        name: "settings",
        uid: (map["metadata"] as Json)["uid"],
      },
    });
    const entries = async (): Promise<Entry[]> => {
      const path = `${base}/namespaces/mine/timelines?kind=ConfigMap&name=settings`;
      return (await as(server, status.token, path)).body["items"] as Entry[];
    };
    const types = async (): Promise<string[]> => (await entries()).map(({ type }) => type);
    assert.deepEqual(await types(), ["Created", "Warning"]);
    assert.equal((await entries())[1]!.note, note);
    for (const path of [`${base}/timelines`, `${base}/namespaces/other/timelines`])
      assert.equal((await as(server, status.token, path)).status, 403, path);
    // A batch is written within a second; events that it misses are reconstructed at the next start.
    await server.kill9();
    await server.restart();
    await until("the timeline is served again", async () => (await types()).length === 2);

    const flags = [
      `--dialect=${dialect.name}`,
      `--${dialect.spelling.flag("orchconfig")}=${server.kubeconfig}`,
    ];
    const view = await run(["events", "cm/settings", "--namespace=mine", ...flags]);
    assert.match(view, /^ConfigMap\/settings /);
    assert.ok(view.includes("onerror=alert(1)>\\u0000\\u202egnp"), view);
    const [file, cursor] = [join(server.folder, "events.jsonl"), join(server.folder, "cursor")];
    for (const _ of [1, 2])
      await run(["events", "export", ...flags, `--file=${file}`, `--cursor-file=${cursor}`]);
    const lines = readFileSync(file, "utf8").trimEnd().split("\n");
    const mine = lines.filter((line) => line.includes('"Tested"'));
    assert.equal(mine.length, 1);
    assert.equal((JSON.parse(mine[0]!) as { object: Json }).object["note"], note);
  });
