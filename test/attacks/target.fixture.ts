// The server under attack: in process, with RBAC, a few users with few permissions and a few secrets. An
// attack is a request that must be refused, must not change any state and must not disclose anything.
import assert from "node:assert/strict";
import { generateKeyPairSync } from "node:crypto";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { virtualClock } from "#base";
import { startServer } from "#apiserver";

export const secretValue = "tell-nobody-4711";
export const group = (name: string): string => `${name}.orch.io`;
const encoded = Buffer.from(secretValue).toString("base64");
/** Values that must never appear in responses, logs, metrics and audit events. */
const neverShown = [secretValue, encoded, "admin-token-9f"];

export const users = {
  admin: "admin-token-9f",
  /** May read configmaps in one namespace, and list and watch every resource except secrets. */
  reader: "reader-token",
  /** May write roles and bindings, but has no permissions to grant. */
  clerk: "clerk-token",
  /** May create pods in one namespace. */
  worker: "worker-token",
  node: "node-token",
} as const;
export type Attacker = keyof typeof users | "nobody";

const folder = mkdtempSync(join(tmpdir(), "attacks-"));
after(() => rmSync(folder, { recursive: true, force: true }));
const file = (name: string, text: string): string => {
  const path = join(folder, name);
  writeFileSync(path, text);
  return path;
};

export const issuer = "https://issuer.attacks";
export const keys = generateKeyPairSync("rsa", { modulusLength: 2048 });

export interface Asking {
  readonly body?: unknown;
  readonly type?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

export interface Answer {
  readonly status: number;
  readonly text: string;
}

/** One attack: a request and, unless given elsewhere, its sender. */
export interface Attack extends Asking {
  readonly method: string;
  readonly path: string;
}

export interface Target {
  readonly start: number;
  /** Sends a request as the administrator. */
  ask(method: string, path: string, asking?: Asking): Promise<Answer>;
  /** Sends a request as the administrator and asserts the status. */
  must(status: number, method: string, path: string, asking?: Asking): Promise<Answer>;
  /** Sends the request as an attacker and checks nothing. */
  attack(as: Attacker, method: string, path: string, asking?: Asking): Promise<Answer>;
  /** Asserts that the request is refused, changes no state and discloses nothing. */
  refuses(as: Attacker, method: string, path: string, asking?: Asking): Promise<void>;
  revision(): Promise<string>;
}

export async function target(): Promise<Target> {
  const clock = virtualClock(Date.now());
  const pem = (kind: "private" | "public"): string =>
    kind === "private"
      ? keys.privateKey.export({ type: "pkcs8", format: "pem" }).toString()
      : keys.publicKey.export({ type: "spki", format: "pem" }).toString();
  const log = join(folder, "audit.log");
  const server = await startServer({
    store: "memory",
    clock,
    flags: [
      "--authorization-mode=Node",
      "--enable-admission-plugins=NodeRestriction",
      `--token-auth-file=${file("tokens.csv", `${users.admin},admin,1,system:masters\n${users.reader},reader,2\n${users.clerk},clerk,3\n${users.worker},worker,4\n${users.node},system:node:n1,5,system:nodes\n`)}`,
      `--service-account-issuer=${issuer}`,
      `--service-account-signing-key-file=${file("sa.key", pem("private"))}`,
      `--service-account-key-file=${file("sa.pub", pem("public"))}`,
      `--audit-policy-file=${file("policy.yaml", JSON.stringify({ apiVersion: `${group("audit")}/v1`, kind: "Policy", rules: [{ level: "Metadata" }] }))}`,
      `--audit-log-path=${log}`,
    ],
  });
  after(() => server.stop());
  const send = async (
    trusted: "admin" | "nobody",
    method: string,
    path: string,
    { body, type, headers }: Asking,
  ): Promise<Answer> => {
    const answer = await server.inject({
      method,
      path,
      ...(trusted === "nobody" && { trusted: null }),
      headers: { ...(body !== undefined && { "content-type": type ?? "application/json" }), ...headers },
      ...(body !== undefined && { body: typeof body === "string" ? body : JSON.stringify(body) }),
    });
    return { status: answer.status, text: Buffer.from(await answer.bytes()).toString() };
  };
  const ask: Target["ask"] = async (method, path, asking = {}) => await send("admin", method, path, asking);
  const must: Target["must"] = async (status, method, path, asking) => {
    const answer = await ask(method, path, asking);
    assert.equal(answer.status, status, `${method} ${path}: ${answer.text.slice(0, 300)}`);
    return answer;
  };
  await seed(must);
  const revision = async (): Promise<string> => {
    const { text } = await must(200, "GET", "/api/v1/namespaces?limit=1");
    return (JSON.parse(text) as { metadata: { resourceVersion: string } }).metadata.resourceVersion;
  };
  const attack: Target["attack"] = async (as, method, path, asking = {}) =>
    await send("nobody", method, path, {
      ...asking,
      headers: { ...(as !== "nobody" && { authorization: `Bearer ${users[as]}` }), ...asking.headers },
    });
  const refuses: Target["refuses"] = async (as, method, path, asking) => {
    const before = await revision();
    const { status, text } = await attack(as, method, path, asking);
    assert.ok(
      (status >= 300 && status < 500) || (status === 500 && impersonatesNobody.test(text)),
      `${method} ${path} was answered with ${status}: ${text.slice(0, 200)}`,
    );
    for (const word of neverShown) assert.ok(!text.includes(word), `${method} ${path} disclosed a secret`);
    assert.equal(await revision(), before, `${method} ${path} changed something`);
  };
  after(async () => {
    const metrics = (await must(200, "GET", "/metrics")).text;
    const events = readFileSync(log, "utf8");
    for (const word of [...neverShown, ...Object.values(users)]) {
      assert.ok(!metrics.includes(word), "a metric discloses a secret");
      assert.ok(!events.includes(word), "an audit event discloses a secret");
    }
  });
  return { start: clock.now(), ask, must, attack, refuses, revision };
}

async function seed(must: Target["must"]): Promise<void> {
  const rbac = `/apis/${group("rbac.authorization")}/v1`;
  const roleRef = (kind: string, name: string) => ({ apiGroup: group("rbac.authorization"), kind, name });
  const subject = (name: string) => ({ apiGroup: group("rbac.authorization"), kind: "User", name });
  const roles: [name: string, rules: object[]][] = [
    [
      "reader",
      [
        { apiGroups: [""], resources: ["configmaps"], verbs: ["get"] },
        {
          apiGroups: ["*"],
          resources: [
            "pods",
            "nodes",
            "services",
            "serviceaccounts",
            "configmaps",
            "deployments",
            "certificatesigningrequests",
          ],
          verbs: ["list", "watch"],
        },
      ],
    ],
    [
      "clerk",
      [
        {
          apiGroups: [group("rbac.authorization")],
          resources: ["*"],
          verbs: ["create", "update", "patch", "get", "list", "delete"],
        },
      ],
    ],
    [
      "worker",
      [
        { apiGroups: [""], resources: ["pods"], verbs: ["create", "get"] },
        {
          apiGroups: [group("certificates")],
          resources: ["certificatesigningrequests"],
          verbs: ["create", "get"],
        },
      ],
    ],
  ];
  for (const [name, rules] of roles) {
    await must(201, "POST", `${rbac}/clusterroles`, { body: { metadata: { name: `t-${name}` }, rules } });
    await must(201, "POST", `${rbac}/clusterrolebindings`, {
      body: {
        metadata: { name: `t-${name}` },
        roleRef: roleRef("ClusterRole", `t-${name}`),
        subjects: [subject(name)],
      },
    });
  }
  const core = "/api/v1/namespaces/default";
  await must(201, "POST", `${core}/secrets`, {
    body: { metadata: { name: "vault" }, stringData: { v: secretValue } },
  });
  await must(201, "POST", `${core}/serviceaccounts`, { body: { metadata: { name: "boss" } } });
  await must(201, "POST", `${core}/serviceaccounts`, { body: { metadata: { name: "default" } } });
  await must(201, "POST", `${rbac}/clusterrolebindings`, {
    body: {
      metadata: { name: "boss" },
      roleRef: roleRef("ClusterRole", "cluster-admin"),
      subjects: [{ kind: "ServiceAccount", name: "boss", namespace: "default" }],
    },
  });
  for (const name of ["n1", "n2"]) await must(201, "POST", "/api/v1/nodes", { body: { metadata: { name } } });
  for (const [name, nodeName] of [
    ["mine", "n1"],
    ["yours", "n2"],
  ] as const)
    await must(201, "POST", `${core}/pods`, {
      body: { metadata: { name }, spec: { nodeName, containers: [{ name: "c", image: "i" }] } },
    });
  await must(201, "POST", `${core}/configmaps`, { body: { metadata: { name: "c" }, data: { k: "v" } } });
  await must(201, "POST", `/apis/apps/v1/namespaces/default/deployments`, {
    body: {
      metadata: { name: "d" },
      spec: {
        selector: { matchLabels: { a: "b" } },
        template: { metadata: { labels: { a: "b" } }, spec: { containers: [{ name: "c", image: "i" }] } },
      },
    },
  });
}

/** kube-apiserver, too, refuses it with an internal error. */
const impersonatesNobody = /^Internal Server Error: .* without impersonating a user\s*$/;

/** Runs one test per case, so that each attack has a name. */
export function attacks<T>(
  cases: readonly (readonly [name: string, given: T])[],
  run: (given: T) => Promise<void>,
): void {
  for (const [name, given] of cases) test(name, async () => await run(given));
}
