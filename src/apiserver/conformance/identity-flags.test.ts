// Authentication flags, from the command line to the resulting identities.
import assert from "node:assert/strict";
import { generateKeyPairSync, sign } from "node:crypto";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { dialects } from "#dialect";
import { type Issuer, startIssuer } from "#kit";
import { type Served, serve } from "../server.fixture.ts";

const dialect = dialects.orch;
const folder = mkdtempSync(join(tmpdir(), "orch-identities-"));
let issuer: Issuer;
before(async () => {
  issuer = await startIssuer();
  writeFileSync(join(folder, "issuer.crt"), issuer.ca);
});
after(async () => {
  await issuer.stop();
  rmSync(folder, { recursive: true });
});

/** Returns the user that a token review reports; undefined if the token is not authenticated. */
async function userOf({ must }: Served, token: string, audiences?: string[]): Promise<unknown> {
  const reviews = `/apis/authentication.${dialect.wire.groupSuffix}/v1/tokenreviews`;
  const review = await must(201, "POST", reviews, { body: { spec: { token, audiences } } });
  return review.at("status.authenticated") ? review.at("status.user") : undefined;
}

for (const [flags, status] of [
  [[], 403],
  [["--anonymous-auth=true"], 403],
  [["--anonymous-auth=false"], 401],
] as const)
  test(`a request without a credential is answered with ${status} for ${flags[0] ?? "no flag"}`, async () => {
    const { must } = await serve({ flags });
    await must(status, "GET", "/api/v1/pods", { trusted: null });
  });

test("tokens of --token-auth-file authenticate its users", async () => {
  const file = join(folder, "tokens.csv");
  writeFileSync(file, 'secret,pat,uid1,"dev,ops"\n');
  const served = await serve({ flags: [`--token-auth-file=${file}`] });
  const groups = ["dev", "ops", "system:authenticated"];
  assert.deepEqual(await userOf(served, "secret"), { username: "pat", uid: "uid1", groups });
});

for (const [flags, user] of [
  [[], undefined],
  [["--enable-bootstrap-token-auth"], "system:bootstrap:abcdef"],
] as const)
  test(`a bootstrap token authenticates ${user ?? "no user"} for ${flags[0] ?? "no flag"}`, async () => {
    const served = await serve({ flags });
    await served.must(201, "POST", `/api/v1/namespaces/${dialect.data.systemNamespace}/secrets`, {
      body: {
        metadata: { name: "bootstrap-token-abcdef" },
        type: dialect.names.secretTypes.bootstrapToken,
        stringData: {
          "token-id": "abcdef",
          "token-secret": "0123456789abcdef",
          "usage-bootstrap-authentication": "true",
        },
      },
    });
    const found = (await userOf(served, "abcdef.0123456789abcdef")) as { username: string } | undefined;
    assert.equal(found?.username, user);
  });

const oidc: [name: string, flags: string[], claims: object, user: object | undefined][] = [
  ["--oidc-username-claim defaults to sub", [], {}, { username: "pre:pat", groups: [] }],
  [
    "--oidc-username-claim names another claim",
    ["--oidc-username-claim=login"],
    { login: "pat2" },
    { username: "pre:pat2", groups: [] },
  ],
  ["the username claim is missing", ["--oidc-username-claim=login"], {}, undefined],
  [
    "--oidc-groups-claim and --oidc-groups-prefix make groups",
    ["--oidc-groups-claim=teams", "--oidc-groups-prefix=t:"],
    { teams: ["a", "b"] },
    { username: "pre:pat", groups: ["t:a", "t:b"] },
  ],
  [
    "every --oidc-required-claim is present",
    ["--oidc-required-claim=hd=example.com", "--oidc-required-claim=tier=gold"],
    { hd: "example.com", tier: "gold" },
    { username: "pre:pat", groups: [] },
  ],
  [
    "one --oidc-required-claim is missing",
    ["--oidc-required-claim=hd=example.com", "--oidc-required-claim=tier=gold"],
    { hd: "example.com" },
    undefined,
  ],
  [
    "an --oidc-required-claim has another value",
    ["--oidc-required-claim=hd=example.com"],
    { hd: "example.org" },
    undefined,
  ],
  ["--oidc-signing-algs does not list the algorithm", ["--oidc-signing-algs=RS256,ES384"], {}, undefined],
];
for (const [name, flags, claims, user] of oidc)
  test(`${name}: the token is ${user ? "accepted" : "refused"}`, async () => {
    const served = await serve({
      flags: [
        `--oidc-issuer-url=${issuer.url}`,
        "--oidc-client-id=cluster",
        `--oidc-ca-file=${join(folder, "issuer.crt")}`,
        "--oidc-username-prefix=pre:",
        ...(flags.some((flag) => flag.startsWith("--oidc-signing-algs"))
          ? []
          : ["--oidc-signing-algs=ES256"]),
        ...flags,
      ],
    });
    const exp = Date.now() / 1000 + 600;
    const found = (await userOf(served, issuer.token({ aud: "cluster", sub: "pat", exp, ...claims }))) as
      | { username: string; groups: string[] }
      | undefined;
    assert.deepEqual(
      found && { ...found, groups: found.groups.filter((group) => !group.startsWith("system:")) },
      user,
    );
  });

const core = "/api/v1/namespaces/default";
interface Issued {
  readonly claims: Readonly<Record<string, unknown>> & { exp: number; iat: number; aud: string[] };
  readonly token: string;
}

/** Starts a server with a service account and a pod, and requests a token. */
async function issued(flags: string[], spec: object): Promise<Issued & { readonly served: Served }> {
  const served = await serve({ flags });
  const { must } = served;
  await must(201, "POST", `${core}/serviceaccounts`, { body: { metadata: { name: "a" } } });
  const pod = { serviceAccountName: "a", containers: [{ name: "c", image: "i" }] };
  await must(201, "POST", `${core}/pods`, { body: { metadata: { name: "p" }, spec: pod } });
  const body = { spec };
  const token = String(
    (await must(201, "POST", `${core}/serviceaccounts/a/token`, { body })).at("status.token"),
  );
  const claims = JSON.parse(Buffer.from(token.split(".")[1]!, "base64url").toString()) as Issued["claims"];
  return { token, claims, served };
}

test("tokens are issued for --api-audiences by default, and those for other audiences are refused", async () => {
  const { token, claims, served } = await issued(["--api-audiences=https://one,https://two"], {});
  assert.deepEqual(claims.aud, ["https://one", "https://two"]);
  assert.ok(await userOf(served, token));
  const body = { spec: { audiences: ["https://three"] } };
  const other = await served.must(201, "POST", `${core}/serviceaccounts/a/token`, { body });
  assert.equal(await userOf(served, String(other.at("status.token"))), undefined);
});

const mounted = { expirationSeconds: 3607, boundObjectRef: { kind: "Pod", apiVersion: "v1", name: "p" } };
const lives: [flags: string[], spec: object, seconds: number][] = [
  [[], { expirationSeconds: 86_400 }, 86_400],
  [["--service-account-max-token-expiration=2h"], { expirationSeconds: 86_400 }, 7200],
  [[], mounted, 31_536_000],
  [["--service-account-extend-token-expiration=false"], mounted, 3607],
];
for (const [flags, spec, seconds] of lives)
  test(`a token of ${JSON.stringify(spec)} lives ${seconds} s for ${flags[0] ?? "no flag"}`, async () => {
    const { claims } = await issued(flags, spec);
    assert.equal(claims.exp - claims.iat, seconds);
  });

test("--service-account-jwks-uri is published in the discovery document", async () => {
  const flags = ["--service-account-jwks-uri=https://keys.example/jwks"];
  const { must } = await serve({ flags });
  const found = await must(200, "GET", "/.well-known/openid-configuration");
  assert.equal(found.at("jwks_uri"), "https://keys.example/jwks");
});

test("mode ABAC decides by the lines of --authorization-policy-file", async () => {
  const file = join(folder, "policy.jsonl");
  const spec = { user: "bob", namespace: "*", resource: "pods", readonly: true };
  const apiVersion = `abac.authorization.${dialect.wire.groupSuffix}/v1beta1`;
  writeFileSync(file, JSON.stringify({ apiVersion, kind: "Policy", spec }));
  const flags = ["--authorization-mode=ABAC", `--authorization-policy-file=${file}`];
  const { must } = await serve({ flags });
  const trusted = { name: "bob", groups: [] };
  await must(200, "GET", "/api/v1/pods", { trusted });
  await must(403, "GET", "/api/v1/secrets", { trusted });
});

/** Writes a key file; returns its flags and a function that signs tokens with the key. */
function signer(): { readonly flags: string[]; token(claims: object): string } {
  const { privateKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
  const file = join(folder, "accounts.key");
  writeFileSync(file, privateKey.export({ type: "pkcs8", format: "pem" }));
  const part = (value: object): string => Buffer.from(JSON.stringify(value)).toString("base64url");
  return {
    flags: [`--service-account-key-file=${file}`, `--service-account-signing-key-file=${file}`],
    token: (claims) => {
      const signed = `${part({ alg: "ES256" })}.${part(claims)}`;
      const signature = sign("sha256", Buffer.from(signed), { key: privateKey, dsaEncoding: "ieee-p1363" });
      return `${signed}.${signature.toString("base64url")}`;
    },
  };
}

for (const [flags, known] of [
  [[], false],
  [["--service-account-issuer=https://second.invalid"], true],
] as const)
  test(`a token of a second issuer is ${known ? "accepted" : "refused"} for ${flags[0] ?? "no flag"}`, async () => {
    const { flags: keys, token } = signer();
    const served = await serve({ flags: [...keys, ...flags] });
    const body = { metadata: { name: "a" } };
    const account = await served.must(201, "POST", `${core}/serviceaccounts`, { body });
    const seconds = Math.floor(Date.now() / 1000);
    const given = token({
      iss: "https://second.invalid",
      sub: "system:serviceaccount:default:a",
      aud: ["https://local.invalid"],
      iat: seconds - 10,
      nbf: seconds - 10,
      exp: seconds + 600,
      [dialect.data.tokenClaim]: {
        namespace: "default",
        serviceaccount: { name: "a", uid: account.at("metadata.uid") },
      },
    });
    assert.equal((await userOf(served, given)) !== undefined, known);
  });

for (const [flags, known] of [
  [[], false],
  [["--service-account-lookup=false"], true],
] as const)
  test(`a token whose secret does not exist is ${known ? "accepted" : "refused"} for ${flags[0] ?? "no flag"}`, async () => {
    const { flags: keys, token } = signer();
    const served = await serve({ flags: [...keys, ...flags] });
    const names = dialect.names.legacyTokens;
    const given = token({
      iss: names.issuer,
      sub: "system:serviceaccount:default:a",
      [names.namespace]: "default",
      [names.secret]: "a-token",
      [names.account]: "a",
      [names.accountUid]: "u",
    });
    assert.equal((await userOf(served, given)) !== undefined, known);
  });
