// Claims: authentication and the RBAC decision for a user with 1,000 bindings take less than 20 µs; audit adds less than
// 15 % at Metadata and 40 % at RequestResponse to a request, encryption less than 10 % to a create.
// The servers are separate processes with the embedded store, driven in turn; their CPU time is compared. Unless a row
// says otherwise, 64 requests are in flight over eight connections, as in the other comparisons of costs.
//
//   npm run bench -- security
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { ClusterRoleBinding, RoleBinding } from "#api";
import { authenticatorOf, bearerTokens, cachedTokens, parseTokenFile } from "#authn";
import { type RbacSource, authorizerOf, rbacAuthorizer } from "#authz";
import { systemClock } from "#base";
import { dialectNamed } from "#dialect";
import { measure, table } from "./kit/measure.ts";
import { cpuMicros } from "./kit/process-cost.ts";
import { Requests, type Round } from "./kit/requests.ts";
import { type ServerProgram, launcher, startProgram, token } from "./kit/server-program.ts";

const dialect = dialectNamed("orch")!;
const folder = mkdtempSync(join(tmpdir(), "bench-security-"));

async function decisions(): Promise<void> {
  const group = `rbac.authorization.${dialect.wire.groupSuffix}`;
  const rules = [{ apiGroups: ["apps"], resources: ["deployments"], verbs: ["get", "list", "watch"] }];
  const bindings = Array.from({ length: 1000 }, (_, at) => ({
    metadata: { name: `binding-${at}`, ...(at >= 500 && { namespace: "n" }) },
    roleRef: { apiGroup: group, kind: "ClusterRole", name: `role-${at}` },
    subjects: [{ apiGroup: group, kind: "User", name: "ann" }],
  }));
  const role = (name: string) =>
    name === "role-999" ? [{ apiGroups: [""], resources: ["pods"], verbs: ["get", "list"] }] : rules;
  const source = {
    version: () => 1,
    clusterRole: (name: string) => ({ metadata: { name }, rules: role(name) }),
    role: () => undefined,
    clusterRoleBindings: () => bindings.slice(0, 500) as unknown as ClusterRoleBinding[],
    roleBindings: (namespace: string) =>
      (namespace === "n" ? bindings.slice(500) : []) as unknown as RoleBinding[],
  } as unknown as RbacSource;
  const authorizer = authorizerOf([rbacAuthorizer(source)]);
  const kept = { clock: systemClock, successMilliseconds: 10_000, failureMilliseconds: 0 };
  const tokens = cachedTokens(parseTokenFile('secret,ann,1,"dev,ops"', "tokens"), kept);
  const authenticator = authenticatorOf([bearerTokens([tokens], [])], { anonymous: false });
  const credentials = { bearerToken: "secret", headers: () => [], headerNames: () => [] };
  const { user } = (await authenticator.authenticate(credentials))!;
  const target = { group: "", version: "v1", resource: "pods", subresource: "", namespace: "n", name: "" };
  let requests = 0;
  table(
    "A user with 1,000 bindings; the last one decides (claim: below 20 µs)",
    measure([
      { name: "authenticate", run: () => authenticator.authenticate(credentials) },
      { name: "decide, asked before", run: () => authorizer.decide({ user, verb: "get", resource: target }) },
      {
        // A different invented verb each time, so that the decision is not cached and no rule allows it.
        name: "decide, never asked before",
        run: () => authorizer.decide({ user, verb: `v${requests++}`, resource: target }),
      },
    ]),
  );
}

const maps = "/api/v1/namespaces/default/configmaps";
const rounds = 40;
/** Warm-up requests: V8 optimizes functions after some thousand runs. */
const warmingRounds = 20;
/** Returns the mean of the better half of all rounds: other load only adds to the time. */
const typical = (values: readonly number[]): number => {
  const better = values.toSorted((a, b) => a - b).slice(0, Math.ceil(values.length / 2));
  return better.reduce((sum, value) => sum + value, 0) / better.length;
};

interface Contender {
  readonly name: string;
  readonly flags: readonly string[];
}

let logs = 0;
const auditFlags = (level: string): readonly string[] => {
  const policy = join(folder, `${level}.yaml`);
  writeFileSync(
    policy,
    `apiVersion: audit.${dialect.wire.groupSuffix}/v1\nkind: Policy\nomitStages: [RequestReceived]\nrules: [{ level: ${level} }]\n`,
  );
  return [`--audit-policy-file=${policy}`, `--audit-log-path=${join(folder, `${level}-${++logs}.log`)}`];
};
const encryptionFlags = (provider: string): readonly string[] => {
  const file = join(folder, `${provider}.yaml`);
  const secret = Buffer.alloc(32, 7).toString("base64");
  writeFileSync(
    file,
    `apiVersion: apiserver.config.${dialect.wire.groupSuffix}/v1\nkind: EncryptionConfiguration\nresources: [{ resources: [configmaps], providers: [{ ${provider}: { keys: [{ name: k, secret: "${secret}" }] } }] }]\n`,
  );
  return [`--encryption-provider-config=${file}`];
};

const contenders: readonly Contender[] = [
  { name: "plain", flags: [] },
  // Two identical servers show the measurement noise.
  { name: "plain as well", flags: [] },
  { name: "audit at Metadata", flags: auditFlags("Metadata") },
  {
    name: "audit at Metadata, in batches",
    flags: [...auditFlags("Metadata"), "--audit-log-mode=batch"],
  },
  { name: "audit at RequestResponse", flags: auditFlags("RequestResponse") },
  { name: "aesgcm", flags: encryptionFlags("aesgcm") },
  { name: "secretbox", flags: encryptionFlags("secretbox") },
];

let made = 0;
const configMap = (): unknown => ({
  metadata: { name: `bench-${++made}`, labels: { app: "web", tier: "front" } },
  data: { settings: "x".repeat(500), more: "y".repeat(400) },
});

interface Kind extends Round {
  readonly title: string;
  readonly connections: number;
}

const get = { method: "GET", path: `${maps}/known`, requests: 1280 } as const;
const kinds: readonly Kind[] = [
  {
    title: "create a ConfigMap of 1 KB",
    method: "POST",
    path: maps,
    requests: 320,
    body: configMap,
    connections: 8,
    lanes: 64,
  },
  { title: "get it", connections: 8, lanes: 64, ...get },
  { title: "get it, 8 in flight over one connection", connections: 1, lanes: 8, ...get },
];

async function servers(): Promise<void> {
  const running: { readonly name: string; readonly server: ServerProgram }[] = [];
  try {
    for (const { name, flags } of contenders) {
      const server = await startProgram([launcher], join(folder, name), flags);
      running.push({ name, server });
      const client = new Requests(server.url, token);
      const known = { metadata: { name: "known" }, data: { settings: "x".repeat(900) } };
      await client.run({ method: "POST", path: maps, requests: 1, body: () => known });
      client.close();
    }
    for (const { title, connections, ...round } of kinds) {
      const clients = running.map((each) => ({
        ...each,
        client: new Requests(each.server.url, token, connections),
        samples: [] as number[],
      }));
      for (let at = -warmingRounds; at < rounds; at++)
        for (const { server, client, samples } of clients) {
          const before = cpuMicros(server.child.pid!);
          await client.run(round);
          const micros = (cpuMicros(server.child.pid!) - before) / round.requests;
          if (at >= 0) samples.push(micros);
        }
      for (const { client } of clients) client.close();
      const costs = clients.map(({ name, samples }) => [name, typical(samples)] as const);
      const plain = costs.slice(0, 2).reduce((sum, [, micros]) => sum + micros / 2, 0);
      console.log(`\n${title}: CPU of the server, the better half of ${rounds} rounds in turn`);
      for (const [name, micros] of costs) {
        const more = `${((micros / plain - 1) * 100).toFixed(1)} % more`;
        console.log(
          `  ${name.padEnd(30)} ${micros.toFixed(0).padStart(6)} µs ${(name.startsWith("plain") ? "" : more).padStart(14)}`,
        );
      }
    }
  } finally {
    for (const { server } of running) await server.stop();
    rmSync(folder, { recursive: true, force: true });
  }
}

await decisions();
await servers();
