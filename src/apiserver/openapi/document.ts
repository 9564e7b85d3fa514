// The published description of the API, in OpenAPI 2 and 3.
import { DeleteOptions, Status, listOf } from "#api";
import type { Dialect } from "#dialect";
import { type Message, collectDefinitions, schemaName, schemaReference } from "#schema";
import type { Endpoint } from "#registry";
import type { Catalog, GroupVersion } from "../catalog.ts";
import { type Operation, type Parameter, type PathItem, pathItems } from "./operations.ts";

type Json = Record<string, unknown>;
type Version = "v2" | "v3";

const info = (dialect: Dialect): Json => ({ title: dialect.wire.apiTitle, version: "v1.27.16" });
const security = { BearerToken: { type: "apiKey", description: "Bearer Token authentication", name: "authorization", in: "header" } };

export function openApiV2(catalog: Catalog, dialect: Dialect): Json {
  const all = pathItems(catalog, dialect);
  const paths: Json = {};
  for (const [version, items] of all) for (const item of items) paths[item.path] = pathV2(item, endpointsOf(version), dialect);
  return {
    swagger: "2.0",
    info: info(dialect),
    paths,
    definitions: definitions([...all.keys()], dialect, "v2", catalog),
    securityDefinitions: security,
    security: [{ BearerToken: [] }],
  };
}

/** One document per group and version. */
export function openApiV3(version: GroupVersion, catalog: Catalog, dialect: Dialect): Json {
  const paths: Json = {};
  for (const item of pathItems(catalog, dialect).get(version) ?? []) paths[item.path] = pathV3(item, endpointsOf(version), dialect);
  return {
    openapi: "3.0.0",
    info: info(dialect),
    paths,
    components: { schemas: definitions([version], dialect, "v3", catalog), securitySchemes: security },
  };
}

const endpointsOf = ({ endpoints }: GroupVersion): readonly Endpoint[] => [...endpoints.values()];

function definitions(versions: readonly GroupVersion[], dialect: Dialect, form: Version, catalog: Catalog): Json {
  const messages = versions.flatMap((version) => endpointsOf(version).flatMap(({ schema }) => [schema, listOf(schema)]));
  const everywhere = {
    messages: [DeleteOptions],
    versions: catalog.versions.map(({ endpoints, version, group }) => [...endpoints.values()][0]?.schema.kind ?? { group, branded: false, version }),
  };
  return collectDefinitions([...messages, Status, DeleteOptions] as Iterable<Message>, dialect, form, everywhere);
}

const extension = (dialect: Dialect, name: string): string => `${dialect.wire.extensionPrefix}${name}`;

function answerSchema(answer: Operation["answers"][string], operation: Operation, endpoints: readonly Endpoint[], dialect: Dialect, form: Version): Json {
  if (answer === "string") return { type: "string" };
  const message = answer === "status" ? Status : answer === "list" ? listOf(endpoints.find(({ kind }) => kind === operation.kind?.kind)!.schema) : answer;
  return { $ref: schemaReference(schemaName(message, dialect), form) };
}

function bodySchema(body: NonNullable<Operation["body"]>, dialect: Dialect, form: Version): Json {
  if (body === "patch") return { $ref: schemaReference(`${dialect.wire.schemaPrefix}.apimachinery.pkg.apis.meta.v1.Patch`, form) };
  return { $ref: schemaReference(schemaName(body === "deleteOptions" ? DeleteOptions : body, dialect), form) };
}

const marks = ({ action, kind }: Operation, dialect: Dialect): Json => ({
  ...(action && { [extension(dialect, "action")]: action }),
  ...(kind && { [extension(dialect, "group-version-kind")]: kind }),
});

const described: Readonly<Record<string, string>> = { "200": "OK", "201": "Created", "202": "Accepted", "401": "Unauthorized" };

function pathV2({ parameters, operations }: PathItem, endpoints: readonly Endpoint[], dialect: Dialect): Json {
  const parameter = ({ name, in: place, type, required, doc }: Parameter): Json => ({ name, in: place, type, description: doc, uniqueItems: true, ...(required && { required }) });
  const item: Json = {};
  for (const operation of operations) {
    const body = operation.body && { name: "body", in: "body", ...(operation.body !== "deleteOptions" && { required: true }), schema: bodySchema(operation.body, dialect, "v2") };
    const responses = Object.fromEntries(
      Object.entries(operation.answers).map(([status, answer]) => [status, { description: described[status], schema: answerSchema(answer, operation, endpoints, dialect, "v2") }]),
    );
    item[operation.method] = {
      description: operation.doc,
      consumes: operation.consumes,
      produces: operation.produces,
      schemes: ["https"],
      tags: [operation.tag],
      operationId: operation.id,
      parameters: [...(body ? [body] : []), ...operation.parameters.map(parameter)],
      responses: { ...responses, "401": { description: described["401"] } },
      ...marks(operation, dialect),
    };
  }
  item["parameters"] = parameters.map(parameter);
  return item;
}

function pathV3({ parameters, operations }: PathItem, endpoints: readonly Endpoint[], dialect: Dialect): Json {
  const parameter = ({ name, in: place, type, required, doc }: Parameter): Json => ({
    name,
    in: place,
    description: doc,
    ...(required && { required }),
    schema: { type, uniqueItems: true },
  });
  const item: Json = {};
  for (const operation of operations) {
    const body = operation.body && {
      requestBody: {
        ...(operation.body !== "deleteOptions" && { required: true }),
        content: Object.fromEntries(operation.consumes.map((type) => [type, { schema: bodySchema(operation.body!, dialect, "v3") }])),
      },
    };
    const responses = Object.fromEntries(
      Object.entries(operation.answers).map(([status, answer]) => [
        status,
        {
          description: described[status],
          content: Object.fromEntries(operation.produces.map((type) => [type, { schema: answerSchema(answer, operation, endpoints, dialect, "v3") }])),
        },
      ]),
    );
    item[operation.method] = {
      tags: [operation.tag],
      description: operation.doc,
      operationId: operation.id,
      ...(operation.parameters.length > 0 && { parameters: operation.parameters.map(parameter) }),
      ...body,
      responses: { ...responses, "401": { description: described["401"] } },
      ...marks(operation, dialect),
    };
  }
  item["parameters"] = parameters.map(parameter);
  return item;
}
