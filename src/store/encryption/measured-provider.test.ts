import assert from "node:assert/strict";
import { test } from "node:test";
import { GrpcError } from "#http";
import type { EncryptionProvider } from "../encrypted.ts";
import { KeyServiceFailed } from "../errors.ts";
import { measuredProvider } from "./measured-provider.ts";

const bytes = Buffer.from("x");
const deadline = new KeyServiceFailed("late", { cause: new GrpcError("DEADLINE_EXCEEDED", "late") });
const cases: [name: string, run: () => Uint8Array | Promise<Uint8Array>, code: string][] = [
  ["synchronously", () => bytes, "OK"],
  ["asynchronously", async () => bytes, "OK"],
  ["with an error of the key service", () => Promise.reject(deadline), "DeadlineExceeded"],
  [
    "with what was made of one",
    () => Promise.reject(new KeyServiceFailed("x", { cause: deadline })),
    "Unknown",
  ],
  [
    "with another failure",
    () => {
      throw new Error("odd");
    },
    "Unknown",
  ],
];
for (const [name, run, code] of cases)
  test(`a value is transformed ${name}: ${code}`, async () => {
    const observed: string[] = [];
    const provider: EncryptionProvider = { id: "kms:v2:a:", seal: run, open: run };
    const measured = measuredProvider(provider, {
      transformation: (kind, id) => ({
        succeeded: (seconds) => void observed.push(`${kind} ${id} ${seconds >= 0 ? "OK" : seconds}`),
        failed: (found) => void observed.push(`${kind} ${id} ${found}`),
      }),
    });
    for (const ask of [measured.seal, measured.open])
      if (code === "OK") assert.equal(await ask(bytes, "n"), bytes);
      else await assert.rejects(async () => await ask(bytes, "n"));
    assert.deepEqual(observed, [`to_storage kms:v2:a: ${code}`, `from_storage kms:v2:a: ${code}`]);
  });

test("each value of a batch is observed once, also if the batch fails and is sealed one by one", () => {
  const observed: string[] = [];
  const provider: EncryptionProvider = {
    id: "a:",
    seal: () => bytes,
    open: () => bytes,
    sealAll: (values) => {
      if (values.some(({ name }) => name === "bad")) throw new Error("odd");
      return values.map(() => bytes);
    },
  };
  const sealAll = measuredProvider(provider, {
    transformation: (kind) => ({
      succeeded: (seconds) => void observed.push(`${kind} ${seconds >= 0 ? "OK" : seconds}`),
      failed: (code) => void observed.push(`${kind} ${code}`),
    }),
  }).sealAll!;
  const good = { name: "good", value: bytes };
  const bad = { name: "bad", value: bytes };
  assert.deepEqual(sealAll([good, good], bytes), [bytes, bytes]);
  for (const values of [[good, bad], [bad]]) assert.throws(() => sealAll(values, bytes), /odd/);
  assert.deepEqual(observed, ["to_storage OK", "to_storage OK", "to_storage Unknown"]);
});
