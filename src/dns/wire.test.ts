import assert from "node:assert/strict";
import { test } from "node:test";
import {
  type Query,
  readName,
  readQuery,
  recordTypes,
  recordsOf,
  responseCodes,
  writeReply,
} from "./wire.ts";

const nameBytes = (name: string): number[] => [
  ...name.split(".").flatMap((label) => [label.length, ...Buffer.from(label)]),
  0,
];
const message = (flags: number, counts: readonly number[], ...rest: readonly number[]): Uint8Array =>
  Uint8Array.from([0x12, 0x34, flags >> 8, flags & 255, ...counts.flatMap((count) => [0, count]), ...rest]);
const plain = message(0x0100, [1, 0, 0, 0], ...nameBytes("Web.Shop"), 0, 1, 0, 1);
const queryOf = (bytes: Uint8Array): Query => {
  const read = readQuery(bytes);
  assert.equal(read.is, "query");
  return (read as { query: Query }).query;
};

test("a query is parsed in lower case and keeps its question as received", () => {
  const query = queryOf(plain);
  assert.equal(query.name, "web.shop");
  assert.equal(query.id, 0x1234);
  assert.equal(query.type, recordTypes.A);
  assert.equal(query.recursionDesired, true);
  assert.equal(Buffer.from(query.question).toString("latin1").includes("Web"), true);
  assert.equal(query.edns, undefined);
});

test("names with other labels differ, though they look alike", () => {
  const nameOf = (...label: readonly number[]): string =>
    queryOf(message(0, [1, 0, 0, 0], ...label, 0, 0, 1, 0, 1)).name;
  assert.notEqual(nameOf(3, 97, 46, 98), nameOf(1, 97, 1, 98));
  assert.notEqual(nameOf(1, 0xc0), nameOf(1, 0xe0));
  const query = queryOf(message(0, [1, 0, 0, 0], 3, 97, 46, 98, 0, 0, 1, 0, 1));
  const records = [{ type: "CNAME", name: "c", ttl: 5, target: query.name }] as const;
  const reply = writeReply(
    query,
    { code: responseCodes.noError, authoritative: true, answers: records },
    512,
  );
  const [record] = [...recordsOf(reply)];
  assert.equal(readName(reply, record!.data).text, query.name);
});

test("a client's payload size is read from its EDNS options", () => {
  const options = [0, 0, 41, 0x10, 0, 0, 0, 0x80, 0, 0, 0];
  const query = queryOf(message(0, [1, 0, 0, 1], ...nameBytes("a"), 0, 1, 0, 1, ...options));
  assert.deepEqual(query.edns, { payload: 4096, dnssec: true });
});

const unanswerable: [name: string, bytes: Uint8Array, expected: string][] = [
  ["an empty datagram", new Uint8Array(), "ignored"],
  ["a response", message(0x8000, [1, 0, 0, 0], ...nameBytes("a"), 0, 1, 0, 1), "ignored"],
  ["an update", message(0x2800, [1, 0, 0, 0], ...nameBytes("a"), 0, 1, 0, 1), "broken 4"],
  ["no question", message(0, [0, 0, 0, 0]), "broken 1"],
  ["a truncated question", message(0, [1, 0, 0, 0], 3, 97), "broken 1"],
  ["a name that points to itself", message(0, [1, 0, 0, 0], 0xc0, 12, 0, 1, 0, 1), "broken 1"],
  ["a name that points forward", message(0, [1, 0, 0, 0], 0xc0, 20, 0, 1, 0, 1), "broken 1"],
  ["a name that points into the header", message(0, [1, 0, 0, 0], 0xc0, 4, 0, 1, 0, 1), "broken 1"],
  ["a label of a reserved type", message(0, [1, 0, 0, 0], 0x80, 0, 0, 1, 0, 1), "broken 1"],
];
for (const [name, bytes, expected] of unanswerable)
  test(`${name} is ${expected}`, () => {
    const read = readQuery(bytes);
    assert.equal(read.is === "broken" ? `broken ${read.code}` : read.is, expected);
  });

const addresses = (count: number) =>
  Array.from(
    { length: count },
    (_, at) => ({ type: "A", name: "web.shop", ttl: 5, address: `10.0.0.${at + 1}` }) as const,
  );

test("a reply echoes the question and compresses names", () => {
  const reply = writeReply(
    queryOf(plain),
    { code: responseCodes.noError, authoritative: true, answers: addresses(1) },
    512,
  );
  assert.equal(reply.length, plain.length + 16);
  assert.deepEqual([...reply.subarray(12, plain.length)], [...plain.subarray(12)]);
  assert.equal(readName(reply, plain.length).text, "web.shop");
  assert.deepEqual([...reply.subarray(-4)], [10, 0, 0, 1]);
});

test("a reply contains as many records as fit and is marked as truncated", () => {
  const reply = writeReply(
    queryOf(plain),
    { code: responseCodes.noError, authoritative: true, answers: addresses(100) },
    512,
  );
  assert.ok(reply.length <= 512 && reply.length > 480);
  assert.equal(reply[2]! & 2, 2);
  assert.equal([...recordsOf(reply)].length, Math.floor((512 - plain.length) / 16));
});

test("an IPv4 address mapped into IPv6 is written in full", () => {
  const mapped = { type: "AAAA", name: "web.shop", ttl: 5, address: "::ffff:10.0.0.1" } as const;
  const reply = writeReply(
    queryOf(plain),
    { code: responseCodes.noError, authoritative: true, answers: [mapped] },
    512,
  );
  const [record] = [...recordsOf(reply)];
  const address = reply.subarray(record!.data, record!.end);
  assert.equal(Buffer.from(address).toString("hex"), "00000000000000000000ffff0a000001");
});

test("records of every type are written with correct lengths", () => {
  const common = { name: "web.shop", ttl: 5 };
  const reply = writeReply(
    queryOf(plain),
    {
      code: responseCodes.noError,
      authoritative: true,
      answers: [
        { ...common, type: "AAAA", address: "fd00::1" },
        { ...common, type: "CNAME", target: "other.shop" },
        { ...common, type: "SRV", weight: 1, port: 80, target: "other.shop" },
        { ...common, type: "TXT", text: "hello" },
        { ...common, type: "SOA", primary: "ns.shop", contact: "hostmaster.shop", serial: 1 },
      ],
    },
    512,
  );
  assert.deepEqual(
    [...recordsOf(reply)].map(({ type }) => type),
    [recordTypes.AAAA, recordTypes.CNAME, recordTypes.SRV, recordTypes.TXT, recordTypes.SOA],
  );
});
