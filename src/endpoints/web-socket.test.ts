import assert from "node:assert/strict";
import { test } from "node:test";
import { eventMessages } from "./web-socket.ts";

const chunks: [name: string, media: string, chunk: Buffer, messages: string[]][] = [
  ["a line of JSON is a message", "json", Buffer.from('{"a":1}\n{"b":2}\n'), ['{"a":1}\n', '{"b":2}\n']],
  ["a line is as long as it is", "json", Buffer.from("é\n"), ["é\n"]],
  [
    "a frame is a message without its length",
    "protobuf",
    Buffer.from("\0\0\0\x02ab\0\0\0\x01c"),
    ["ab", "c"],
  ],
  ["nothing makes no message", "json", Buffer.from(""), []],
];
for (const [name, media, chunk, expected] of chunks) {
  test(`${name}, and shares the bytes of the watch`, () => {
    const messages = [...eventMessages(media).messages(chunk, "")] as Uint8Array[];
    assert.deepEqual(
      messages.map((message) => Buffer.from(message).toString()),
      expected,
    );
    assert.ok(messages.every((message) => message.buffer === chunk.buffer));
  });
}
