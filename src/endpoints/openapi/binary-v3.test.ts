import assert from "node:assert/strict";
import { test } from "node:test";
import protobufjs from "protobufjs";
import { binaryV3 } from "./binary-v3.ts";

const form = protobufjs
  .parse(
    `
  syntax = "proto3";
  message Document { string openapi = 1; Info info = 2; Paths paths = 4; Components components = 5; }
  message Info { string title = 1; string version = 6; }
  message Paths { repeated NamedPath path = 1; }
  message NamedPath { string name = 1; PathItem value = 2; }
  message PathItem { Operation get = 4; Operation post = 6; repeated ParameterOr parameters = 13; }
  message Operation {
    repeated string tags = 1; string operation_id = 5; repeated ParameterOr parameters = 6;
    BodyOr request_body = 7; Responses responses = 8; repeated NamedAny specification_extension = 13;
  }
  message ParameterOr { Parameter parameter = 1; }
  message Parameter { string name = 1; string in = 2; bool required = 4; SchemaOr schema = 10; }
  message BodyOr { Body request_body = 1; }
  message Body { Contents content = 2; }
  message Contents { repeated NamedMedia additional_properties = 1; }
  message NamedMedia { string name = 1; Media value = 2; }
  message Media { SchemaOr schema = 1; }
  message Responses { ResponseOr default = 1; repeated NamedResponse response_or_reference = 2; }
  message NamedResponse { string name = 1; ResponseOr value = 2; }
  message ResponseOr { Response response = 1; }
  message Response { string description = 1; Contents content = 3; }
  message Components { Schemas schemas = 1; Securities security_schemes = 7; }
  message Schemas { repeated NamedSchema additional_properties = 1; }
  message NamedSchema { string name = 1; SchemaOr value = 2; }
  message SchemaOr { oneof one { Schema schema = 1; Ref reference = 2; } }
  message Ref { string _ref = 1; }
  message Schema {
    bool nullable = 1; double maximum = 11; double minimum = 13; int64 max_length = 15; string pattern = 17;
    bool unique_items = 20; repeated string required = 23; repeated Any enum = 24; string type = 25;
    repeated SchemaOr all_of = 26; Items items = 30; Schemas properties = 31; Additional additional_properties = 32;
    Default default = 33; string description = 34; string format = 35; repeated NamedAny specification_extension = 36;
  }
  message Items { repeated SchemaOr schema_or_reference = 1; }
  message Additional { oneof one { SchemaOr schema_or_reference = 1; bool boolean = 2; } }
  message Default { oneof one { double number = 1; bool boolean = 2; string string = 3; } }
  message NamedAny { string name = 1; Any value = 2; }
  message Any { string yaml = 2; }
  message Securities { repeated NamedSecurity additional_properties = 1; }
  message NamedSecurity { string name = 1; SecurityOr value = 2; }
  message SecurityOr { Security security_scheme = 1; }
  message Security { string type = 1; string name = 3; string in = 4; }
`,
    { keepCase: true },
  )
  .root.lookupType("Document");

const $ref = "#/components/schemas/io.example.Other";
const json = {
  openapi: "3.0.0",
  info: { title: "T", version: "v1" },
  paths: {
    "/a": {
      get: {
        tags: ["x"],
        operationId: "readA",
        responses: { 200: { description: "OK", content: { "application/json": { schema: { $ref } } } } },
        "x-action": "get",
      },
      post: {
        operationId: "createA",
        parameters: [{ name: "q", in: "query", schema: { type: "boolean", uniqueItems: true } }],
        requestBody: { content: { "*/*": { schema: { $ref } } } },
        responses: { default: { description: "other" } },
      },
      parameters: [{ name: "name", in: "path", required: true, schema: { type: "string" } }],
    },
  },
  components: {
    schemas: {
      "io.example.A": {
        description: "D",
        type: "object",
        required: ["a"],
        properties: {
          a: { type: "string", default: "", enum: ["x", "y"], maxLength: 300, pattern: "^x" },
          b: { type: "array", items: { allOf: [{ $ref }], default: {} }, "x-list-type": "set" },
          c: { type: "integer", format: "int32", default: 0, minimum: 1, maximum: 2.5, nullable: true },
          d: { type: "object", additionalProperties: { $ref } },
          e: { type: "object", additionalProperties: true },
          f: { type: "boolean", default: false },
        },
      },
    },
    securitySchemes: { BearerToken: { type: "apiKey", name: "authorization", in: "header" } },
  },
};

const reference = { reference: { _ref: $ref } };
const media = (name: string): object => ({
  additional_properties: [{ name, value: { schema: reference } }],
});

test("an OpenAPI 3 document in the binary form has every field of the JSON form", () => {
  const decoded = form.toObject(form.decode(binaryV3(json)), { longs: Number, arrays: false });
  assert.deepEqual(decoded, {
    openapi: "3.0.0",
    info: { title: "T", version: "v1" },
    paths: {
      path: [
        {
          name: "/a",
          value: {
            get: {
              tags: ["x"],
              operation_id: "readA",
              responses: {
                response_or_reference: [
                  {
                    name: "200",
                    value: { response: { description: "OK", content: media("application/json") } },
                  },
                ],
              },
              specification_extension: [{ name: "x-action", value: { yaml: "get\n" } }],
            },
            post: {
              operation_id: "createA",
              parameters: [
                {
                  parameter: {
                    name: "q",
                    in: "query",
                    schema: { schema: { type: "boolean", unique_items: true } },
                  },
                },
              ],
              request_body: { request_body: { content: media("*/*") } },
              responses: { default: { response: { description: "other" } } },
            },
            parameters: [
              {
                parameter: {
                  name: "name",
                  in: "path",
                  required: true,
                  schema: { schema: { type: "string" } },
                },
              },
            ],
          },
        },
      ],
    },
    components: {
      schemas: {
        additional_properties: [
          {
            name: "io.example.A",
            value: {
              schema: {
                description: "D",
                type: "object",
                required: ["a"],
                properties: {
                  additional_properties: [
                    {
                      name: "a",
                      value: {
                        schema: {
                          type: "string",
                          default: { string: "" },
                          enum: [{ yaml: "x\n" }, { yaml: '"y"\n' }],
                          max_length: 300,
                          pattern: "^x",
                        },
                      },
                    },
                    {
                      name: "b",
                      value: {
                        schema: {
                          type: "array",
                          items: {
                            schema_or_reference: [{ schema: { all_of: [reference], default: {} } }],
                          },
                          specification_extension: [{ name: "x-list-type", value: { yaml: "set\n" } }],
                        },
                      },
                    },
                    {
                      name: "c",
                      value: {
                        schema: {
                          type: "integer",
                          format: "int32",
                          default: { number: 0 },
                          minimum: 1,
                          maximum: 2.5,
                          nullable: true,
                        },
                      },
                    },
                    {
                      name: "d",
                      value: {
                        schema: {
                          type: "object",
                          additional_properties: { schema_or_reference: reference },
                        },
                      },
                    },
                    {
                      name: "e",
                      value: { schema: { type: "object", additional_properties: { boolean: true } } },
                    },
                    { name: "f", value: { schema: { type: "boolean", default: { boolean: false } } } },
                  ],
                },
              },
            },
          },
        ],
      },
      security_schemes: {
        additional_properties: [
          {
            name: "BearerToken",
            value: { security_scheme: { type: "apiKey", name: "authorization", in: "header" } },
          },
        ],
      },
    },
  });
});
