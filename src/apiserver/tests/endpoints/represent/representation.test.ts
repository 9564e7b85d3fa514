import assert from "node:assert/strict";
import { test } from "node:test";
import protobufjs from "protobufjs";
import {
  ConfigMap,
  CoreEvent,
  Deployment,
  Event,
  PartialObjectMetadata,
  Status,
  inDialect,
  listOf,
} from "#api";
import { type DialectName, dialects } from "#dialect";
import type { KindSchema } from "#registry";
import {
  type Message,
  decodeEnvelope,
  decodeJson,
  encodeJson,
  parseJson,
  protobufCodec,
  yamlToJson,
} from "#schema";
import { type Answer, type Json, at, coreEvent, newEvent, serve } from "../../../server.fixture.ts";

const big = 9007199254740993n;

const declared = protobufjs
  .parse(
    'syntax = "proto3"; message WatchEvent { string type = 1; Raw object = 2; } message Raw { bytes raw = 1; }',
  )
  .root.lookupType("WatchEvent");
const watchEvent = (bytes: Uint8Array) =>
  declared.decode(bytes) as unknown as {
    readonly type: string;
    readonly object: { readonly raw: Uint8Array };
  };

for (const name of ["orch", "kubernetes"] satisfies DialectName[]) {
  const dialect = dialects[name];
  const { must, server } = await serve({ dialect: name });
  const protobuf = dialect.wire.protobufMediaType;
  const meta = name === "orch" ? "meta.orch.io" : "meta.k8s.io";
  const events = name === "orch" ? "events.orch.io" : "events.k8s.io";
  const template = `{"metadata":{"labels":{"a":"b"}},"spec":{"terminationGracePeriodSeconds":${big},"containers":[{"name":"c","image":"i"}]}}`;
  const kinds: [name: string, path: string, schema: KindSchema, body: unknown][] = [
    [
      "a config map",
      "/api/v1/namespaces/default/configmaps",
      ConfigMap,
      {
        metadata: { name: "a", annotations: { "example.com/x": "ü\n<&>\u2028" } },
        data: { y: "no", "1": "0x10" },
        binaryData: { b: "AAEC" },
      },
    ],
    ["an event", `/apis/${events}/v1/namespaces/default/events`, Event, newEvent("a", "default")],
    [
      "a core event",
      "/api/v1/namespaces/default/events",
      CoreEvent,
      coreEvent("b", "default", { metadata: { name: "b" } }),
    ],
    [
      "a deployment with a large number",
      "/apis/apps/v1/namespaces/default/deployments",
      Deployment,
      `{"metadata":{"name":"a"},"spec":{"selector":{"matchLabels":{"a":"b"}},"template":${template}}}`,
    ],
  ];
  const exactly = ({ bytes }: Answer): unknown => parseJson(bytes.toString()).value;
  const fromProtobuf = (schema: Message, bytes: Uint8Array): unknown => {
    const { apiVersion, kind, raw } = decodeEnvelope(bytes, dialect.wire.protobufMagic);
    return parseJson(encodeJson(schema, protobufCodec(schema).decode(raw, { apiVersion, kind }) as never))
      .value;
  };

  for (const [kind, path, neutral, body] of kinds) {
    const schema = inDialect(dialect, neutral);
    const item = await must(201, "POST", path, { body });
    const one = `${path}/${item.at("metadata.name")}`;

    test(`${name}: ${kind} is the same in every representation`, async () => {
      const plain = await must(200, "GET", one);
      assert.deepEqual(exactly(plain), exactly(item));
      assert.match(plain.text, /^\{"kind":.*\}\n$/s);
      assert.equal(plain.headers["content-type"], "application/json");
      const pretty = await must(200, "GET", `${one}?pretty=true`);
      assert.deepEqual(exactly(pretty), exactly(plain));
      assert.match(pretty.text, /^\{\n {2}"/);
      const yaml = await must(200, "GET", one, { accept: "application/yaml" });
      assert.equal(yaml.headers["content-type"], "application/yaml");
      assert.deepEqual(parseJson(yamlToJson(yaml.text)).value, exactly(plain));
      const binary = await must(200, "GET", one, { accept: protobuf });
      assert.equal(binary.headers["content-type"], protobuf);
      assert.deepEqual(fromProtobuf(schema, binary.bytes), exactly(plain));
    });

    test(`${name}: a list with ${kind} is the same in every representation, and its items are the objects`, async () => {
      const plain = await must(200, "GET", path);
      assert.equal(plain.at("kind"), `${schema.kind.kind}List`);
      const items = at(exactly(plain), "items") as Json[];
      const { kind: _kind, apiVersion: _apiVersion, ...rest } = exactly(await must(200, "GET", one)) as Json;
      assert.deepEqual(
        items.find((each) => at(each, "metadata.name") === item.at("metadata.name")),
        rest,
      );
      for (const answer of [await must(200, "GET", `${path}?pretty=1`)])
        assert.deepEqual(exactly(answer), exactly(plain));
      assert.deepEqual(
        parseJson(yamlToJson((await must(200, "GET", path, { accept: "application/yaml" })).text)).value,
        exactly(plain),
      );
      assert.deepEqual(
        fromProtobuf(listOf(schema), (await must(200, "GET", path, { accept: protobuf })).bytes),
        exactly(plain),
      );
    });

    test(`${name}: the metadata of ${kind} alone is the metadata of the whole`, async () => {
      const plain = exactly(await must(200, "GET", one));
      const expected = {
        kind: "PartialObjectMetadata",
        apiVersion: `${meta}/v1`,
        metadata: at(plain, "metadata"),
      };
      const form = `as=PartialObjectMetadata;g=${meta};v=v1`;
      assert.deepEqual(
        exactly(await must(200, "GET", one, { accept: `application/json;${form}` })),
        expected,
      );
      assert.deepEqual(
        fromProtobuf(
          PartialObjectMetadata,
          (await must(200, "GET", one, { accept: `${protobuf};${form}` })).bytes,
        ),
        expected,
      );
      const list = await must(200, "GET", path, {
        accept: `application/json;as=PartialObjectMetadataList;g=${meta};v=v1`,
      });
      assert.equal(list.at("kind"), "PartialObjectMetadataList");
      assert.deepEqual(
        (at(exactly(list), "items") as Json[]).find(
          (each) => at(each, "metadata.name") === item.at("metadata.name"),
        ),
        expected,
      );
    });

    test(`${name}: a table of ${kind} has a cell per column and the metadata of the object`, async () => {
      const accept = `application/json;as=Table;g=${meta};v=v1`;
      const table = await must(200, "GET", one, { accept });
      assert.deepEqual(
        [table.at("kind"), table.at("apiVersion"), table.at("metadata.resourceVersion")],
        ["Table", `${meta}/v1`, item.at("metadata.resourceVersion")],
      );
      const columns = table.at("columnDefinitions") as Json[];
      assert.equal((table.at("rows.0.cells") as unknown[]).length, columns.length);
      assert.ok(
        columns.length >= 2 &&
          columns.every(({ name: title, type, description }) => title && type && description),
      );
      assert.deepEqual(table.at("rows.0.object"), {
        kind: "PartialObjectMetadata",
        apiVersion: `${meta}/v1`,
        metadata: item.at("metadata"),
      });
      assert.equal(
        (await must(200, "GET", `${one}?includeObject=None`, { accept })).at("rows.0.object"),
        null,
      );
      assert.deepEqual(
        at(exactly(await must(200, "GET", `${one}?includeObject=Object`, { accept })), "rows.0.object"),
        exactly(item),
      );
      const half = await must(400, "GET", `${one}?includeObject=Half`, { accept });
      assert.match(
        String(half.at("message")),
        /^Unable to convert to Table as requested: includeObject: Invalid value: "Half": must be 'Metadata', /,
      );
      const list = await must(200, "GET", path, { accept: `${accept},application/json` });
      assert.equal(
        (list.at("rows") as unknown[]).length,
        ((await must(200, "GET", path)).at("items") as unknown[]).length,
      );
      await must(406, "GET", one, { accept: `${protobuf};as=Table;g=${meta};v=v1` });
    });

    test(`${name}: a watch of ${kind} sends the objects in every representation`, async () => {
      const watch = (accept: string): Promise<Buffer> =>
        framesOf(`${path}?watch=1&fieldSelector=metadata.name%3D${item.at("metadata.name")}`, accept);
      const plain = exactly(await must(200, "GET", one));
      assert.deepEqual(parseJson((await watch("application/json")).toString()).value, {
        type: "ADDED",
        object: plain,
      });
      assert.deepEqual(parseJson((await watch("application/json;pretty=1")).toString()).value, {
        type: "ADDED",
        object: plain,
      });
      const frame = await watch(`${protobuf};stream=watch`);
      assert.equal(frame.readUInt32BE(0), frame.length - 4);
      const event = watchEvent(frame.subarray(4));
      assert.equal(event.type, "ADDED");
      assert.deepEqual(fromProtobuf(schema, event.object.raw), plain);
    });
  }

  /** Returns the first frames of a watch. */
  async function framesOf(path: string, accept: string): Promise<Buffer> {
    const stop = new AbortController();
    const { chunks } = await server.inject({ path, headers: { accept }, signal: stop.signal });
    for await (const chunk of chunks) return Buffer.from(chunk);
    throw new Error("the watch ended at once");
  }

  test(`${name}: an error inside a watch has the representation of the watch`, async () => {
    const path = "/api/v1/namespaces/default/configmaps?watch=1&resourceVersion=1";
    const [plain, frame] = [await framesOf(path, "application/json"), await framesOf(path, protobuf)];
    const expected = JSON.parse(plain.toString()) as Json;
    assert.deepEqual(
      [expected["type"], at(expected, "object.code"), at(expected, "object.reason")],
      ["ERROR", 410, "Expired"],
    );
    const event = watchEvent(frame.subarray(4));
    assert.equal(event.type, "ERROR");
    assert.deepEqual(fromProtobuf(Status, event.object.raw), expected["object"]);
  });

  test(`${name}: an error has a representation that the client accepts`, async () => {
    const path = "/api/v1/namespaces/default/configmaps/none";
    const plain = await must(404, "GET", path);
    assert.deepEqual(
      JSON.parse(yamlToJson((await must(404, "GET", path, { accept: "application/yaml" })).text)),
      plain.json,
    );
    assert.deepEqual(
      fromProtobuf(Status, (await must(404, "GET", path, { accept: protobuf })).bytes),
      plain.json,
    );
    assert.deepEqual((await must(404, "GET", `${path}?pretty=1`)).json, plain.json);
    assert.equal(
      (await must(404, "GET", path, { accept: `application/json;as=Table;g=${meta};v=v1` })).at("kind"),
      "Status",
    );
    assert.equal((await must(406, "GET", path, { accept: "text/html" })).at("reason"), "NotAcceptable");
  });

  test(`${name}: an empty list has items, and an empty table rows`, async () => {
    const path = "/api/v1/namespaces/empty/configmaps";
    assert.deepEqual((await must(200, "GET", path)).at("items"), []);
    assert.deepEqual(
      decodeJson(
        listOf(ConfigMap),
        yamlToJson((await must(200, "GET", path, { accept: "application/yaml" })).text),
      ).value["items"],
      [],
    );
    assert.deepEqual(
      (await must(200, "GET", path, { accept: `application/json;as=Table;g=${meta};v=v1` })).at("rows"),
      [],
    );
    assert.equal(
      (await must(200, "GET", path, { accept: `application/json;as=Table;g=${meta};v=v1beta1` })).at(
        "apiVersion",
      ),
      `${meta}/v1beta1`,
    );
  });

  test(`${name}: a dry run shows no version in any representation`, async () => {
    const path = "/api/v1/namespaces/default/configmaps?dryRun=All";
    const body = { metadata: { name: "dry", annotations: { x: 'resourceVersion: "0"\n' } } };
    const versions = [
      (await must(201, "POST", path, { body })).at("metadata"),
      (await must(201, "POST", `${path}&pretty=1`, { body })).at("metadata"),
      at(
        JSON.parse(yamlToJson((await must(201, "POST", path, { body, accept: "application/yaml" })).text)),
        "metadata",
      ),
      at(
        fromProtobuf(ConfigMap, (await must(201, "POST", path, { body, accept: protobuf })).bytes),
        "metadata",
      ),
    ];
    for (const metadata of versions)
      assert.deepEqual(
        [at(metadata, "resourceVersion"), at(metadata, "annotations.x")],
        [undefined, 'resourceVersion: "0"\n'],
      );
  });
}
