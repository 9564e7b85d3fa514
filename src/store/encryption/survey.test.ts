import assert from "node:assert/strict";
import { test } from "node:test";
import { encrypted, identity } from "../encrypted.ts";
import { aesGcm } from "./aes-gcm.ts";
import { openMemory } from "../memory/memory.ts";
import { surveyEncryption } from "./survey.ts";

test("values are counted by resource and by the provider that encrypted them", async () => {
  const plain = await openMemory();
  const markers = ["x:enc:", "enc:"];
  const write = async (marker: string, key: string, name?: string): Promise<void> => {
    const providers = name === undefined ? [identity] : [aesGcm(name, Buffer.alloc(32))];
    const store = encrypted(plain, providers, { markers: [marker] });
    await store.write({ key: `/registry/${key}`, value: Buffer.from("{}"), expect: "any" });
  };
  await write("x:enc:", "secrets/a/1", "k1");
  await write("enc:", "secrets/a/2", "k1");
  await write("x:enc:", "secrets/a/3", "k2");
  await write("x:enc:", "secrets/a/4");
  await write("x:enc:", "example.com/widgets/a/1", "k2");
  for (let at = 0; at < 600; at++) await write("x:enc:", `pods/a/${at}`);
  assert.deepEqual(
    (await surveyEncryption(plain, "/registry", markers)).map(({ resource, provider, values }) => [
      resource,
      provider,
      values,
    ]),
    [
      ["example.com/widgets", "aesgcm:v1:k2", 1],
      ["pods", "none", 600],
      ["secrets", "aesgcm:v1:k1", 2],
      ["secrets", "aesgcm:v1:k2", 1],
      ["secrets", "none", 1],
    ],
  );
});
