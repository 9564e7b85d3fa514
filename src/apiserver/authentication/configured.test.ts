import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { virtualClock } from "#base";
import { dialectNamed } from "#dialect";
import { type Issuer, startIssuer } from "#kit";
import { serve } from "../server.fixture.ts";

const folder = mkdtempSync(join(tmpdir(), "authentication-config-"));
const issuers: Issuer[] = [];
before(async () => void issuers.push(await startIssuer(), await startIssuer()));
after(async () => {
  for (const issuer of issuers) await issuer.stop();
  rmSync(folder, { recursive: true, force: true });
});
const dialect = dialectNamed("orch")!;
const now = Date.now();
const later = now / 1000 + 1e9;

let files = 0;
async function configured(...jwt: object[]) {
  const file = join(folder, `${++files}.yaml`);
  const write = (content: object): void =>
    writeFileSync(
      file,
      JSON.stringify({
        apiVersion: `apiserver.config.${dialect.wire.groupSuffix}/v1beta1`,
        kind: "AuthenticationConfiguration",
        ...content,
      }),
    );
  write({ jwt });
  const clock = virtualClock(now);
  const served = await serve({ flags: [`--authentication-config=${file}`], clock });
  const reviews = `/apis/authentication.${dialect.wire.groupSuffix}/v1/tokenreviews`;
  /** Returns the user of a token; undefined if it is not authenticated. */
  const userOf = async (token: string) =>
    (await served.must(201, "POST", reviews, { body: { spec: { token } } })).at("status.user") as
      | { readonly username: string; readonly groups: readonly string[] }
      | undefined;
  const anonymous = async (path: string) => (await served.ask("GET", path, { trusted: null })).status;
  /** Advances the clock until the condition holds. */
  const until = async (holds: () => Promise<boolean>): Promise<void> => {
    while (!(await holds())) {
      await clock.advance(5000);
      await new Promise((resolve) => setImmediate(resolve));
    }
  };
  return { ...served, write, userOf, anonymous, until };
}
const of = ({ url, ca }: Issuer, more: object = {}): object => ({
  issuer: { url, certificateAuthority: ca, audiences: ["app"] },
  claimMappings: { username: { expression: "'org:' + claims.sub" }, groups: { expression: "claims.teams" } },
  ...more,
});
const claims = { aud: "app", sub: "pat", teams: ["a"], exp: later };

test("tokens of several issuers are mapped to users by expressions", async () => {
  const [one, two] = issuers as [Issuer, Issuer];
  const plain = { claimMappings: { username: { claim: "sub", prefix: "two:" } } };
  const rules = [{ expression: "!user.username.startsWith('system:')", message: "reserved" }];
  const { userOf, ask } = await configured(of(one, { userValidationRules: rules }), of(two, plain));
  assert.deepEqual(await userOf(one.token(claims)), {
    username: "org:pat",
    groups: ["a", "system:authenticated"],
  });
  assert.equal((await userOf(two.token(claims)))?.username, "two:pat");
  for (const token of [
    one.token({ ...claims, iss: two.url }),
    one.token({ ...claims, aud: "other" }),
    one.token({ ...claims, teams: 5 }),
    one.token({ ...claims, exp: now / 1000 - 1 }),
    one.token({ ...claims, iss: "https://127.0.0.1:1" }),
  ]) {
    const headers = { authorization: `Bearer ${token}` };
    assert.equal((await ask("GET", "/version", { headers, trusted: null })).status, 401);
  }
});

test("an issuer's certificate is verified with the host's CAs unless a CA is configured", async () => {
  const [one] = issuers as [Issuer];
  const { userOf } = await configured(of(one, { issuer: { url: one.url, audiences: ["app"] } }));
  assert.equal((await userOf(one.token(claims)))?.username, undefined);
});

test("a changed file takes effect; an invalid one is reported by /readyz, and the last valid one is kept", async () => {
  const [one] = issuers as [Issuer];
  const { userOf, write, until, ask } = await configured();
  const name = async (): Promise<unknown> => (await userOf(one.token(claims)))?.username;
  assert.equal(await name(), undefined);
  write({ jwt: [of(one)] });
  await until(async () => (await name()) === "org:pat");
  write({ jwt: [of(one, { claimMappings: { username: { expression: "claims." } } })] });
  const ready = async (): Promise<string> => (await ask("GET", "/readyz?verbose")).text;
  await until(async () => (await ready()).includes("--authentication-config"));
  assert.equal(await name(), "org:pat");
  write({ jwt: [of(one, { claimMappings: { username: { expression: "'new:' + claims.sub" } } })] });
  await until(async () => (await name()) === "new:pat");
  assert.ok(!(await ready()).includes("--authentication-config"));
});

test("anonymous requests are accepted on the paths that the file allows", async () => {
  const { anonymous, write, until } = await configured();
  assert.equal(await anonymous("/api/v1/pods"), 403);
  write({ jwt: [], anonymous: { enabled: true, conditions: [{ path: "/livez" }] } });
  await until(async () => (await anonymous("/api/v1/pods")) === 401);
  assert.equal(await anonymous("/livez"), 200);
  for (const path of ["/livez/ping", "/readyz", "/livez/../api", "/livez%2f..%2fapi"])
    assert.equal(await anonymous(path), 401, path);
  write({ jwt: [], anonymous: { enabled: false } });
  await until(async () => (await anonymous("/livez")) === 401);
});

test("keys rotated by an issuer are reloaded, with a new key ID and with the same one", async () => {
  const issuer = await startIssuer();
  try {
    const { userOf, until } = await configured(of(issuer));
    const name = async (header?: object): Promise<unknown> =>
      (await userOf(issuer.token({ ...claims, jti: crypto.randomUUID() }, header)))?.username;
    assert.equal(await name(), "org:pat");
    const stolen = issuer.token({ ...claims, jti: "old" });
    issuer.rotate("two");
    await until(async () => (await name()) === "org:pat");
    assert.equal((await userOf(stolen))?.username, undefined);
    issuer.rotate();
    await until(async () => (await name()) === "org:pat");
    issuer.rotate();
    await until(async () => (await name({ kid: undefined })) === "org:pat");
  } finally {
    await issuer.stop();
  }
});
