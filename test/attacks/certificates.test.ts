// Certificates that claim more than their authority may grant, and headers reserved for a front proxy, over
// real loopback connections.
import assert from "node:assert/strict";
import { X509Certificate } from "node:crypto";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { request } from "node:https";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { startServer } from "#apiserver";
import { type CertificatePair, createAuthority, selfSigned, signClient, signServing } from "#authn";
import { attacks, secretValue } from "./target.fixture.ts";

const day = 86_400_000;
const now = Date.now();
const valid = { now, days: 30 };
const masters = { commonName: "mallory", organizations: ["system:masters"] };
const clientRoot = createAuthority({ commonName: "clients" }, valid);
const proxyRoot = createAuthority({ commonName: "proxies" }, valid);
const otherRoot = createAuthority({ commonName: "clients" }, valid);

const folder = mkdtempSync(join(tmpdir(), "attack-certificates-"));
after(() => rmSync(folder, { recursive: true, force: true }));
const file = (name: string, text: string): string => {
  writeFileSync(join(folder, name), text);
  return join(folder, name);
};

const server = await startServer({
  store: "memory",
  port: 0,
  flags: [
    `--client-ca-file=${file("clients.pem", clientRoot.certificate)}`,
    `--requestheader-client-ca-file=${file("proxies.pem", proxyRoot.certificate)}`,
    "--requestheader-allowed-names=front",
    "--requestheader-username-headers=X-Remote-User",
    "--requestheader-group-headers=X-Remote-Group",
    "--requestheader-extra-headers-prefix=X-Remote-Extra-",
  ],
});
after(() => server.stop());
const vault = "/api/v1/namespaces/default/secrets/vault";
await server.inject({
  method: "POST",
  path: "/api/v1/namespaces/default/secrets",
  headers: { "content-type": "application/json" },
  body: JSON.stringify({ metadata: { name: "vault" }, stringData: { v: secretValue } }),
});

interface Presented {
  /** The client's certificate first. */
  readonly chain: readonly CertificatePair[];
  readonly headers?: Readonly<Record<string, string>>;
}

async function read({ chain, headers = {} }: Presented): Promise<{ status: number; text: string }> {
  return await new Promise((resolve, reject) => {
    const sent = request(
      `${server.url}${vault}`,
      {
        agent: false,
        headers,
        rejectUnauthorized: false,
        cert: chain.map(({ certificate }) => certificate).join(""),
        key: chain[0]!.key,
      },
      (answer) => {
        const chunks: Buffer[] = [];
        answer.on("data", (chunk: Buffer) => chunks.push(chunk));
        answer.on("end", () =>
          resolve({ status: answer.statusCode ?? 0, text: Buffer.concat(chunks).toString() }),
        );
        answer.on("error", reject);
      },
    );
    sent.on("error", reject);
    sent.end();
  });
}

const front = signClient(proxyRoot, { commonName: "front" }, valid);
const asAdmin = { "x-remote-user": "admin", "x-remote-group": "system:masters" };

test("the same requests with valid certificates succeed", async () => {
  const good = await read({ chain: [signClient(clientRoot, masters, valid)] });
  assert.equal(good.status, 200, good.text);
  assert.equal((await read({ chain: [front], headers: asAdmin })).status, 200);
});

const carol = signClient(clientRoot, { commonName: "carol", organizations: ["dev"] }, valid);
const serving = signServing(clientRoot, masters, ["localhost"], valid);
const named = (commonName: string, organizations: string[] = []): CertificatePair[] => [
  signClient(clientRoot, { commonName, organizations }, valid),
];
const claims: [name: string, chain: CertificatePair[]][] = [
  ["another authority of the same name", [signClient(otherRoot, masters, valid)]],
  ["another authority, which is part of the chain", [signClient(otherRoot, masters, valid), otherRoot]],
  [
    "another authority, with the trusted one after it in the chain",
    [signClient(otherRoot, masters, valid), clientRoot],
  ],
  ["its own key", [selfSigned(masters, ["localhost"], valid)]],
  ["a client, which is not an authority", [signClient(carol, masters, valid), carol]],
  [
    "a client, with the trusted authority in the chain",
    [signClient(carol, masters, valid), carol, clientRoot],
  ],
  ["a serving certificate", [signClient(serving, masters, valid), serving]],
  ["the proxies' authority", [signClient(proxyRoot, masters, valid)]],
  [
    "the proxies' authority, with that of clients after it in the chain",
    [signClient(proxyRoot, masters, valid), clientRoot],
  ],
  ["an authority, but for serving", [serving]],
  [
    "an authority whose certificate has expired",
    [signClient(clientRoot, masters, { now: now - 10 * day, days: 1 })],
  ],
  [
    "an authority whose certificate is not yet valid",
    [signClient(clientRoot, masters, { now: now + 2 * day, days: 1 })],
  ],
  [
    "an intermediate authority that has expired",
    (() => {
      const middle = createAuthority({ commonName: "middle" }, { now: now - 10 * day, days: 1 }, clientRoot);
      return [signClient(middle, masters, valid), middle];
    })(),
  ],
  [
    "an intermediate authority that is missing from the chain",
    [signClient(createAuthority({ commonName: "middle" }, valid, clientRoot), masters, valid)],
  ],
  ["the group's name as the user", named("system:masters")],
  ["a group in capitals", named("mallory", ["SYSTEM:MASTERS"])],
  ["a group with a trailing space", named("mallory", ["system:masters "])],
  ["a group with a leading space", named("mallory", [" system:masters"])],
  ["a group with a trailing NUL", named("mallory", ["system:masters\0"])],
  ["a group in a list", named("mallory", ["dev,system:masters"])],
  ["a group with a homoglyph", named("mallory", ["ѕystem:masters"])],
  ["a group after a line feed in the name", named("mallory\nO=system:masters")],
  ["a group after a line feed in another group", named("mallory", ["dev\nO=system:masters"])],
  ["a group after a slash in the name", named("mallory/O=system:masters")],
  ["a group after a comma in the name", named("mallory, O=system:masters")],
  ["a group after a plus in the name", named("mallory+O=system:masters")],
  ["a quoted group in the name", named('mallory", O="system:masters')],
  ["a name with a trailing NUL", named("admin\0.example")],
  ["a name in capitals", named("ADMIN")],
  ["no name, but a group", named("", ["system:masters"])],
  ["a name of 60,000 letters", named("a".repeat(60_000))],
];
const besides: [name: string, headers: Record<string, string>][] = [
  ["", {}],
  [", with headers of a front proxy", asAdmin],
  [", and impersonation", { "impersonate-user": "admin", "impersonate-group": "system:masters" }],
  [
    ", with the certificate in a header",
    { "x-forwarded-client-cert": `Subject="O=system:masters,CN=admin"` },
  ],
];
attacks<Presented>(
  claims.flatMap(([name, chain]) =>
    besides.map(([more, headers]) => [`certificate signed by ${name}${more}`, { chain, headers }] as const),
  ),
  async (presented) => await refuses(presented),
);

const proxies: [name: string, chain: CertificatePair[]][] = [
  ["a client", [carol]],
  ["a client of the proxy's name", named("front")],
  ["a proxy of another name", [signClient(proxyRoot, { commonName: "back" }, valid)]],
  [
    "a proxy whose name has the allowed one as a prefix",
    [signClient(proxyRoot, { commonName: "front.evil" }, valid)],
  ],
  ["a proxy whose name has a trailing NUL", [signClient(proxyRoot, { commonName: "front\0" }, valid)]],
  ["a proxy without a name", [signClient(proxyRoot, { commonName: "" }, valid)]],
  ["a proxy of another authority", [signClient(otherRoot, { commonName: "front" }, valid), proxyRoot]],
  [
    "a proxy with an expired certificate",
    [signClient(proxyRoot, { commonName: "front" }, { now: now - 9 * day, days: 1 })],
  ],
  ["a proxy with a serving certificate", [signServing(proxyRoot, { commonName: "front" }, ["front"], valid)]],
];
const smuggled: [name: string, headers: Record<string, string>][] = [
  ["the user", asAdmin],
  ["the group alone", { "x-remote-group": "system:masters" }],
  ["the user and extra data", { ...asAdmin, "x-remote-extra-scopes": "all" }],
  ["the user and no name", { ...asAdmin, "x-remote-user": "" }],
];
attacks<Presented>(
  proxies.flatMap(([name, chain]) =>
    smuggled.map(([what, headers]) => [`${name} sends ${what}`, { chain, headers }] as const),
  ),
  async (presented) => await refuses(presented),
);
attacks<Presented>(
  (
    [
      ["no headers at all", {}],
      ["only a group", { "x-remote-group": "system:masters" }],
      ["an empty name", { "x-remote-user": "", "x-remote-group": "system:masters" }],
      ["a user without permissions", { "x-remote-user": "carol" }],
      ["a group in underscores", { "x-remote-user": "carol", x_remote_group: "system:masters" }],
      ["two groups in one header", { "x-remote-user": "carol", "x-remote-group": "dev,system:masters" }],
      ["a name that is a list", { "x-remote-user": "carol,admin" }],
      ["groups as extra data", { "x-remote-user": "carol", "x-remote-extra-groups": "system:masters" }],
      ["the user in another header", { "x-remote-user": "carol", "x-remote-name": "admin" }],
    ] as [string, Record<string, string>][]
  ).map(([name, headers]) => [`the front proxy passes on ${name}`, { chain: [front], headers }] as const),
  async (presented) => await refuses(presented),
);

async function refuses(presented: Presented): Promise<void> {
  const leaf = new X509Certificate(presented.chain[0]!.certificate);
  const { status, text } = await read(presented);
  assert.ok(
    status === 401 || status === 403,
    `${leaf.subject} was answered with ${status}: ${text.slice(0, 200)}`,
  );
  assert.ok(!text.includes(Buffer.from(secretValue).toString("base64")) && !text.includes(secretValue));
}
