import assert from "node:assert/strict";
import { test } from "node:test";
import { decodeMessage, encodeCall } from "./dbus-message.ts";

const call = {
  destination: "org.freedesktop.systemd1",
  path: "/org/freedesktop/systemd1",
  interface: "org.freedesktop.systemd1.Manager",
  member: "KillUnit",
  signature: "ssi",
  body: ["systemd-logind.service", "all", 1],
} as const;

test("a message is decoded as encoded, once it is complete", () => {
  const bytes = encodeCall(call, 7);
  assert.equal(decodeMessage(bytes.subarray(0, -1)), undefined);
  const { message, length } = decodeMessage(Buffer.concat([bytes, Buffer.from([1])]))!;
  assert.equal(length, bytes.length);
  assert.deepEqual(message, {
    type: "call",
    serial: 7,
    path: call.path,
    interface: call.interface,
    member: call.member,
    body: call.body,
  });
});

test("a number in a variant is decoded with its alignment", () => {
  // A method return to serial 1 whose body is the variant 60000000 of type uint64.
  const body = Buffer.from("01740000000000000087930300000000", "hex");
  const header = Buffer.from("050175000100000008016700017600", "hex");
  const fixed = Buffer.alloc(16);
  fixed.set([0x6c, 2, 1, 1]);
  fixed.writeUInt32LE(body.length, 4);
  fixed.writeUInt32LE(2, 8);
  fixed.writeUInt32LE(header.length, 12);
  const { message } = decodeMessage(Buffer.concat([fixed, header, Buffer.alloc(1), body]))!;
  assert.deepEqual([message.replySerial, message.body], [1, [60_000_000n]]);
});

test("a message with values of unknown types has no body", () => {
  const { message } = decodeMessage(encodeCall({ ...call, signature: "d", body: [1] }, 7))!;
  assert.deepEqual([message.member, message.body], ["KillUnit", []]);
});
