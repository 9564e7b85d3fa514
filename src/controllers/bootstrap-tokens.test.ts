import assert from "node:assert/strict";
import { test } from "node:test";
import { kinds } from "#client";
import { tokenCleanerController, tokenIn } from "./bootstrap-tokens.ts";
import { until, withController } from "./cluster.fixture.ts";

const encoded = (data: Readonly<Record<string, string>>): Record<string, string> =>
  Object.fromEntries(Object.entries(data).map(([key, text]) => [key, Buffer.from(text).toString("base64")]));
const token = { "token-id": "abcdef", "token-secret": "0123456789abcdef" };
const secret = (data: Readonly<Record<string, string>>, name = "bootstrap-token-abcdef") =>
  ({ metadata: { name }, data: encoded(data) }) as unknown as Parameters<typeof tokenIn>[0];

const tokens: [name: string, secret: Parameters<typeof tokenIn>[0], isToken: boolean][] = [
  ["a token", secret(token), true],
  ["a token even if its secret has an unusual form", secret({ ...token, "token-secret": "Short!" }), true],
  ["not a token without a token secret", secret({ ...token, "token-secret": "" }), false],
  ["not a token under another name", secret(token, "bootstrap-token-abcdeg"), false],
  [
    "not a token if its id has another form",
    secret({ ...token, "token-id": "ab" }, "bootstrap-token-ab"),
    false,
  ],
];
for (const [name, given, isToken] of tokens)
  test(`a secret is ${name}`, () => assert.equal(tokenIn(given) !== undefined, isToken));

const times: [text: string, expires: number | undefined][] = [
  ["", undefined],
  ["2099-01-01T00:00:00Z", Date.UTC(2099, 0, 1)],
  ["2099-01-01T00:00:00+02:00", Date.UTC(2098, 11, 31, 22)],
  ["2099-01-01", Number.NaN],
  ["2099-01-01 00:00:00Z", Number.NaN],
  ["2099-02-30T00:00:00Z", Number.NaN],
  ["Thu, 01 Jan 2099 00:00:00 GMT", Number.NaN],
];
for (const [text, expires] of times)
  test(`a token with expiration "${text}" expires at ${expires ?? "no time"}`, () =>
    assert.equal(tokenIn(secret({ ...token, expiration: text }))?.expires, expires));

test("a token is deleted if its expiration is past or invalid", () =>
  withController(tokenCleanerController, async ({ client }) => {
    const namespace = client.dialect.data.systemNamespace;
    const secrets = client.of(kinds.secrets);
    const expirations = {
      past01: "2020-01-01T00:00:00Z",
      wrong1: "2099-01-01",
      later1: "2099-01-01T00:00:00Z",
    };
    for (const [id, expiration] of Object.entries(expirations))
      await secrets.create({
        metadata: { name: `bootstrap-token-${id}`, namespace },
        type: client.dialect.names.secretTypes.bootstrapToken,
        data: encoded({ ...token, "token-id": id, expiration }),
      });
    const names = async () => (await secrets.list({ namespace })).items.map(({ metadata }) => metadata.name);
    await until(async () => (await names()).length === 1);
    assert.deepEqual(await names(), ["bootstrap-token-later1"]);
  }));
