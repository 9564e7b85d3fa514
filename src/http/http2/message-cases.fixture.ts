// Conformance cases of RFC 9113 §8 and RFC 7541: requests and header compression.
import {
  type Http2Case,
  connectionError,
  streamError,
  response,
  headers,
  fields,
  method,
  scheme,
  path,
  some,
  data,
  withFields,
} from "./conformance-cases.fixture.ts";
import { errorCode, flag } from "./frames.ts";
import { getBlock, hello, post, postBlock } from "./raw-client.fixture.ts";

const { protocol, compression } = errorCode;

export const messageCases: readonly Http2Case[] = [
  [
    "9113 §8.1",
    "POST with trailers",
    [hello, post(1), data(1, some(1), 0), headers(1, fields(["x-test", "ok"]))],
    response(1),
  ],
  [
    "9113 §8.1",
    "a second HEADERS without END_STREAM",
    [hello, post(1), headers(1, fields(["x-test", "ok"]), flag.endHeaders)],
    streamError(protocol),
  ],
  ["9113 §8.2.1", "a field name in upper case", [hello, withFields(["X-TEST", "ok"])], streamError(protocol)],
  ["9113 §8.2.1", "a field name with a space", [hello, withFields(["x test", "ok"])], streamError(protocol)],
  [
    "9113 §8.2.1",
    "a field value with a line break",
    [hello, withFields(["x-test", "a\r\nb"])],
    streamError(protocol),
  ],
  ["9113 §8.2.1", "a field value with a NUL", [hello, withFields(["x-test", "a\0b"])], streamError(protocol)],
  [
    "9113 §8.2.1",
    "a field value that starts with a space",
    [hello, withFields(["x-test", " a"])],
    streamError(protocol),
  ],
  [
    "9113 §8.2.1",
    "a field value that ends with a tab",
    [hello, withFields(["x-test", "a\t"])],
    streamError(protocol),
  ],
  [
    "9113 §8.2.2",
    "a field of HTTP/1.1 connections",
    [hello, withFields(["connection", "keep-alive"])],
    streamError(protocol),
  ],
  [
    "9113 §8.2.2",
    "Transfer-Encoding",
    [hello, withFields(["transfer-encoding", "chunked"])],
    streamError(protocol),
  ],
  [
    "9113 §8.2.2",
    "TE other than trailers",
    [hello, withFields(["te", "trailers, deflate"])],
    streamError(protocol),
  ],
  ["9113 §8.2.2", "TE of trailers", [hello, withFields(["te", "trailers"])], response(1)],
  [
    "9113 §8.3",
    "an unknown pseudo-header",
    [hello, headers(1, Buffer.concat([getBlock, fields([":test", "ok"])]))],
    streamError(protocol),
  ],
  [
    "9113 §8.3",
    "a pseudo-header of responses",
    [hello, headers(1, Buffer.concat([getBlock, fields([":status", "200"])]))],
    streamError(protocol),
  ],
  [
    "9113 §8.3",
    "a pseudo-header in trailers",
    [hello, post(1), headers(1, fields(method))],
    streamError(protocol),
  ],
  [
    "9113 §8.3",
    "a pseudo-header after a regular field",
    [hello, headers(1, fields(method, scheme, ["x-test", "ok"], path))],
    streamError(protocol),
  ],
  [
    "9113 §8.3.1",
    "an empty :path",
    [hello, headers(1, fields(method, scheme, [":path", ""]))],
    streamError(protocol),
  ],
  [
    "9113 §8.3.1",
    "a :path without a slash",
    [hello, headers(1, fields(method, scheme, [":path", "api"]))],
    streamError(protocol),
  ],
  ["9113 §8.3.1", "no :method", [hello, headers(1, fields(scheme, path))], streamError(protocol)],
  ["9113 §8.3.1", "no :scheme", [hello, headers(1, fields(method, path))], streamError(protocol)],
  ["9113 §8.3.1", "no :path", [hello, headers(1, fields(method, scheme))], streamError(protocol)],
  [
    "9113 §8.3.1",
    "two :method",
    [hello, headers(1, fields(method, method, scheme, path))],
    streamError(protocol),
  ],
  [
    "9113 §8.3.1",
    "two :scheme",
    [hello, headers(1, fields(method, scheme, scheme, path))],
    streamError(protocol),
  ],
  [
    "9113 §8.3.1",
    "two :path",
    [hello, headers(1, fields(method, scheme, path, path))],
    streamError(protocol),
  ],
  [
    "9113 §8.3.1",
    "two :authority",
    [hello, headers(1, Buffer.concat([getBlock, fields([":authority", "a"], [":authority", "b"])]))],
    streamError(protocol),
  ],
  [
    "9113 §8.1.1",
    "a content length above the DATA that follows",
    [
      hello,
      headers(1, Buffer.concat([postBlock, fields(["content-length", "2"])]), flag.endHeaders),
      data(1),
    ],
    streamError(protocol),
  ],
  [
    "9113 §8.1.1",
    "a content length below the DATA that follows",
    [
      hello,
      headers(1, Buffer.concat([postBlock, fields(["content-length", "1"])]), flag.endHeaders),
      data(1, some(1), 0),
      data(1),
    ],
    streamError(protocol),
  ],
  [
    "9113 §8.1.1",
    "a content length that is not a number",
    [hello, withFields(["content-length", "one"])],
    streamError(protocol),
  ],
  [
    "7541 §2.3.3",
    "an index beyond both tables",
    [hello, headers(1, Buffer.from([0x82, 0x87, 0x84, 0xc6]))],
    connectionError(compression),
  ],
  [
    "7541 §2.3.3",
    "a name index beyond both tables",
    [hello, headers(1, Buffer.from([0x82, 0x87, 0x84, 0x7f, 0x07, 1, 0x61]))],
    connectionError(compression),
  ],
  [
    "7541 §4.2",
    "a table size update after a field",
    [hello, headers(1, Buffer.concat([getBlock, Buffer.from([0x20])]))],
    connectionError(compression),
  ],
  [
    "7541 §4.2",
    "a table size update before the fields",
    [hello, headers(1, Buffer.concat([Buffer.from([0x20]), getBlock]))],
    response(1),
  ],
  [
    "7541 §5.1",
    "an integer that does not end",
    [hello, headers(1, Buffer.from([0x82, 0x87, 0x84, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff]))],
    connectionError(compression),
  ],
  [
    "7541 §5.2",
    "Huffman padding longer than 7 bits",
    [
      hello,
      headers(
        1,
        Buffer.concat([
          getBlock,
          Buffer.from([0x00, 0x85, 0xf2, 0xb2, 0x4a, 0x84, 0xff, 0x84, 0x49, 0x50, 0x9f, 0xff]),
        ]),
      ),
    ],
    connectionError(compression),
  ],
  [
    "7541 §5.2",
    "Huffman padding by zeros",
    [
      hello,
      headers(
        1,
        Buffer.concat([
          getBlock,
          Buffer.from([0x00, 0x85, 0xf2, 0xb2, 0x4a, 0x84, 0xff, 0x83, 0x49, 0x50, 0x90]),
        ]),
      ),
    ],
    connectionError(compression),
  ],
  [
    "7541 §5.2",
    "the EOS symbol in a Huffman string",
    [
      hello,
      headers(1, Buffer.concat([getBlock, Buffer.from([0x00, 0x84, 0xff, 0xff, 0xff, 0xff, 0x01, 0x61])])),
    ],
    connectionError(compression),
  ],
  [
    "7541 §6.1",
    "index 0",
    [hello, headers(1, Buffer.from([0x82, 0x87, 0x84, 0x80]))],
    connectionError(compression),
  ],
  [
    "7541 §6.2.1",
    "a literal with incremental indexing is found again",
    [
      hello,
      headers(1, Buffer.concat([getBlock, Buffer.from([0x40, 1, 0x61, 1, 0x62])])),
      headers(3, Buffer.concat([getBlock, Buffer.from([0xbe])])),
    ],
    response(3),
  ],
  [
    "7541 §6.2.3",
    "a literal that is never indexed",
    [hello, headers(1, Buffer.concat([getBlock, Buffer.from([0x10, 1, 0x61, 1, 0x62])]))],
    response(1),
  ],
  [
    "7541 §6.3",
    "a table size update above the limit",
    [hello, headers(1, Buffer.concat([Buffer.from([0x3f, 0xe2, 0x1f]), getBlock]))],
    connectionError(compression),
  ],
];
