import assert from "node:assert/strict";
import { generateKeyPairSync } from "node:crypto";
import { test } from "node:test";
import { signingKeyOf } from "#authn";
import { type ApiClient, kinds } from "#client";
import { isDeleted, until, withController } from "./cluster.fixture.ts";
import { serviceAccountTokenController } from "./service-account-tokens.ts";

const namespace = "default";
const pem = generateKeyPairSync("ec", {
  namedCurve: "P-256",
  privateKeyEncoding: { type: "pkcs8", format: "pem" },
  publicKeyEncoding: { type: "spki", format: "pem" },
}).privateKey;
const settings = { key: signingKeyOf(pem, "test"), rootCa: "the authority" };
const decoded = (text = ""): string => Buffer.from(text, "base64").toString();
const encoded = (text: string): string => Buffer.from(text).toString("base64");

const secretOf = (client: ApiClient, name: string, of: { account: string; uid?: string; data?: object }) => {
  const { annotations, secretTypes } = client.dialect.names;
  return {
    metadata: {
      name,
      namespace,
      annotations: {
        [annotations.serviceAccountName]: of.account,
        ...(of.uid !== undefined && { [annotations.serviceAccountUid]: of.uid }),
      },
    },
    type: secretTypes.serviceAccountToken,
    ...(of.data && { data: of.data }),
  } as never;
};

test("a deleted token secret is removed from the list of its account", () =>
  withController(
    (context) => serviceAccountTokenController(context, settings),
    async ({ client }) => {
      const accounts = client.of(kinds.serviceAccounts);
      const secrets = client.of(kinds.secrets);
      await accounts.create({
        metadata: { name: "builder", namespace },
        secrets: [{ name: "first" }, { name: "second" }],
      });
      for (const name of ["first", "second"])
        await secrets.create(secretOf(client, name, { account: "builder" }));
      await until(async () => (await secrets.get("first", { namespace })).data?.["token"]);
      await secrets.delete("first", { namespace });
      const listed = async () =>
        ((await accounts.get("builder", { namespace })).secrets ?? []).map(({ name }) => name);
      await until(async () => !(await listed()).includes("first"));
      assert.deepEqual(await listed(), ["second"]);
    },
  ));

test("a token secret gets its missing data and is deleted with its account", () =>
  withController(
    (context) => serviceAccountTokenController(context, settings),
    async ({ client }) => {
      const { annotations, legacyTokens } = client.dialect.names;
      const accounts = client.of(kinds.serviceAccounts);
      const secrets = client.of(kinds.secrets);
      const account = await accounts.create({ metadata: { name: "builder", namespace } });
      const uid = account.metadata.uid!;
      await secrets.create(secretOf(client, "empty", { account: "builder" }));
      const wrong = { namespace: encoded("elsewhere"), "ca.crt": encoded("another"), other: encoded("kept") };
      await secrets.create(secretOf(client, "wrong", { account: "builder", uid, data: wrong }));
      const filled = async (name: string): Promise<Record<string, string>> =>
        await until(async () => {
          const { data, metadata } = await secrets.get(name, { namespace });
          const isFilled = data?.["token"] && metadata.annotations?.[annotations.serviceAccountUid] === uid;
          return isFilled ? data : undefined;
        });
      const empty = await filled("empty");
      assert.equal(decoded(empty["ca.crt"]), settings.rootCa);
      assert.equal(decoded(empty["namespace"]), namespace);
      const claims = JSON.parse(decoded(decoded(empty["token"]).split(".")[1])) as Record<string, string>;
      assert.deepEqual(claims, {
        iss: legacyTokens.issuer,
        sub: `system:serviceaccount:${namespace}:builder`,
        [legacyTokens.namespace]: namespace,
        [legacyTokens.secret]: "empty",
        [legacyTokens.account]: "builder",
        [legacyTokens.accountUid]: uid,
      });
      const { token, ...rest } = await filled("wrong");
      assert.ok(token);
      assert.deepEqual(rest, {
        "ca.crt": encoded(settings.rootCa),
        namespace: encoded(namespace),
        other: encoded("kept"),
      });

      await secrets.patch("empty", "merge", { data: { token: null } }, { namespace });
      await filled("empty");

      await accounts.delete("builder", { namespace });
      for (const name of ["empty", "wrong"]) await until(() => isDeleted(secrets.get(name, { namespace })));
    },
  ));

test("a token secret without an account is deleted", () =>
  withController(
    (context) => serviceAccountTokenController(context, settings),
    async ({ client }) => {
      const secrets = client.of(kinds.secrets);
      await client.of(kinds.serviceAccounts).create({ metadata: { name: "builder", namespace } });
      await secrets.create(secretOf(client, "of-nobody", { account: "nobody" }));
      await secrets.create(secretOf(client, "of-an-earlier-one", { account: "builder", uid: "of-before" }));
      for (const name of ["of-nobody", "of-an-earlier-one"])
        await until(() => isDeleted(secrets.get(name, { namespace })));
    },
  ));
