import assert from "node:assert/strict";
import { connect } from "node:http2";
import { once } from "node:events";
import { test } from "node:test";
import { CompressionError, HeaderDecoder } from "./header-decoder.ts";
import { encodeHeaders } from "./header-encoder.ts";
import { serve } from "./raw-client.fixture.ts";

const decode = (decoder: HeaderDecoder, block: Buffer): string[] => {
  const fields: string[] = [];
  decoder.decode(block, ({ name, value }) => fields.push(`${name}: ${value}`));
  return fields;
};
const hex = (text: string): Buffer => Buffer.from(text.replaceAll(" ", ""), "hex");

const start = [":method: GET", ":scheme: http", ":path: /", ":authority: www.example.com"];
const requests = [
  start,
  [...start, "cache-control: no-cache"],
  [
    ":method: GET",
    ":scheme: https",
    ":path: /index.html",
    ":authority: www.example.com",
    "custom-key: custom-value",
  ],
];
const conversations: [name: string, blocks: string[]][] = [
  [
    "plain",
    [
      "828684410f7777772e6578616d706c652e636f6d",
      "828684be58086e6f2d6361636865",
      "828785bf400a637573746f6d2d6b65790c637573746f6d2d76616c7565",
    ],
  ],
  [
    "Huffman",
    [
      "828684418cf1e3c2e5f23a6ba0ab90f4ff",
      "828684be5886a8eb10649cbf",
      "828785bf408825a849e95ba97d7f8925a849e95bb8e8b4bf",
    ],
  ],
];
for (const [name, blocks] of conversations) {
  test(`the examples of the RFC are decoded: ${name}`, () => {
    const decoder = new HeaderDecoder();
    assert.deepEqual(
      blocks.map((block) => decode(decoder, hex(block))),
      requests,
    );
  });
}

test("fields that no longer fit are evicted from the table, oldest first", () => {
  const decoder = new HeaderDecoder();
  // A table of 2 fields of 34 bytes: a=1, b=2, then c=3.
  assert.deepEqual(decode(decoder, hex("3f25 400161 0131 400162 0132 400163 0133 be bf")), [
    "a: 1",
    "b: 2",
    "c: 3",
    "c: 3",
    "b: 2",
  ]);
  assert.throws(() => decode(decoder, hex("c0")), CompressionError);
});

test("a field larger than the table empties it", () => {
  const decoder = new HeaderDecoder();
  decode(decoder, hex("400161 0131"));
  decode(decoder, Buffer.concat([hex("400162 7f8120"), Buffer.alloc(4224, "x")]));
  assert.throws(() => decode(decoder, hex("be")), CompressionError);
});

const broken: [name: string, block: string][] = [
  ["number 0", "80"],
  ["a number without end", "ffffffffffffff"],
  ["a number cut off", "ff80"],
  ["a value missing", "400161"],
  ["a table resized too late", "8220"],
  ["Huffman padding of zeros", "00811800"],
  ["Huffman padding of a whole byte", "00821fff00"],
];
for (const [name, block] of broken)
  test(`a block with ${name} is a compression error`, () =>
    assert.throws(() => decode(new HeaderDecoder(), hex(block)), CompressionError));

test("our encoding is decoded by another implementation, and vice versa", async (t) => {
  const every = Array.from({ length: 95 }, (_, at) => String.fromCharCode(32 + at)).join("");
  const sent = {
    "x-every": every.trim(),
    "x-long": `${every}y`.repeat(20).trim(),
    accept: "a/b",
    "x-empty": "",
    "set-cookie": ["a=1", "b=2"],
  };
  const port = await serve(t, async (stream) => {
    const { headers } = stream.head;
    stream.respond(
      201,
      {
        "X-Every": headers["x-every"]!,
        "x-long": headers["x-long"]!,
        accept: headers["accept"]!,
        "x-empty": "",
        "set-cookie": ["a=1", "b=2"],
        connection: "close",
        "content-length": 0,
      },
      [],
      true,
    );
  });
  const session = connect(`http://127.0.0.1:${port}`);
  t.after(() => session.destroy());
  for (let round = 0; round < 3; round++) {
    const stream = session.request({ ":path": "/", ...sent, "set-cookie": undefined });
    const [got] = (await once(stream, "response")) as [Record<string, unknown>];
    assert.deepEqual(Object.fromEntries(Object.entries(got)), {
      ":status": 201,
      ...sent,
      "content-length": "0",
    });
    stream.resume();
  }
});

test("characters are bytes, other text is UTF-8, line breaks are spaces, and long values have a length", () => {
  const headers = { "x-bytes": "na\xef\xffve\r\nx", "x-text": "naïve …", "x-long": "l".repeat(300) };
  const [, bytes, text, long] = decode(new HeaderDecoder(), Buffer.from(encodeHeaders(200, headers)));
  assert.equal(bytes, "x-bytes: na\xef\xffve  x");
  assert.equal(Buffer.from(text!, "latin1").toString(), "x-text: naïve …");
  assert.equal(long, `x-long: ${"l".repeat(300)}`);
});

test("headers of any size are encoded", () => {
  const value = "v".repeat(200_000);
  assert.deepEqual(
    decode(new HeaderDecoder(), Buffer.from(encodeHeaders(404, { a: value, b: [value, "x"] }))),
    [":status: 404", `a: ${value}`, `b: ${value}`, "b: x"],
  );
});
