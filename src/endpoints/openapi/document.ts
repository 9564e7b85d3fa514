// The published description of the API, in OpenAPI 2 and 3.
import { DeleteOptions, Status, WatchEvent, listOf } from "#api";
import { releaseVersion } from "#base";
import type { Dialect, GroupVersionName } from "#dialect";
import { type Message, collectDefinitions, extensions, schemaName, schemaReference } from "#schema";
import type { Catalog } from "../catalog.ts";
import { type Operation, type Parameter, type PathItem, rootOf } from "./operations.ts";
import { knownVersions } from "./known-versions.ts";
import { pathItems } from "./path-items.ts";

type Json = Record<string, unknown>;
type Version = "v2" | "v3";

const info = (dialect: Dialect, version = releaseVersion): Json => ({
  title: dialect.wire.apiTitle,
  version,
});
/** In the reference, documents of custom kinds have a different title. */
const customInfo = (dialect: Dialect): Json => ({
  title: `${dialect.wire.apiTitle} CRD Swagger`,
  version: "v0.1.0",
});
const security = {
  BearerToken: {
    type: "apiKey",
    description: "Bearer Token authentication",
    name: "authorization",
    in: "header",
  },
};

export interface DocumentOptions {
  /** Whether the host's log files are served. */
  readonly hasLogs?: boolean;
  /** If false, the documents do not list the values of enumerated fields. */
  readonly enums?: boolean;
  /** Version of the API; that of the first release by default. */
  readonly version?: string;
}

export function openApiV2(
  catalog: Catalog,
  dialect: Dialect,
  { hasLogs = false, enums = true, version: release }: DocumentOptions = {},
): Json {
  const items = [...pathItems(catalog, dialect, hasLogs).values()]
    .flat()
    .sort((a, b) => (a.path < b.path ? -1 : 1));
  return {
    swagger: "2.0",
    info: info(dialect, release),
    paths: Object.fromEntries(items.map((item) => [item.path, pathV2(item, dialect)])),
    definitions: definitions(items, catalog.versions.flatMap(kindsOf), dialect, "v2", { catalog, enums }),
    securityDefinitions: security,
    security: [{ BearerToken: [] }],
  };
}

/** The names of the OpenAPI 3 documents. */
export const documentNames = (catalog: Catalog, dialect: Dialect, hasLogs = false): string[] =>
  [...pathItems(catalog, dialect, hasLogs).keys()].sort();

/** Builds the document of one group version or root path. */
export function openApiV3(
  name: string,
  catalog: Catalog,
  dialect: Dialect,
  { hasLogs = false, enums = true, version: release }: DocumentOptions = {},
): Json {
  const items = pathItems(catalog, dialect, hasLogs).get(name) ?? [];
  const version = catalog.versions.find((item) => rootOf(item) === `/${name}`);
  const schemas = definitions(items, version ? kindsOf(version) : [], dialect, "v3", { catalog, enums });
  const custom = version !== undefined && !catalog.isBuiltIn(version.group);
  return {
    openapi: "3.0.0",
    info: custom ? customInfo(dialect) : info(dialect, release),
    paths: Object.fromEntries(items.map((item) => [item.path, pathV3(item, dialect)])),
    components: {
      ...(Object.keys(schemas).length > 0 && { schemas }),
      ...(!custom && { securitySchemes: security }),
    },
  };
}

const kindsOf = ({ endpoints }: Catalog["versions"][number]): Message[] =>
  [...endpoints.values()].flatMap(({ schema }) => [schema, listOf(schema)]);

/** The release also registers the kind in this group. */
const statusVersions: readonly GroupVersionName[] = [
  { group: "resource", branded: true, version: "v1alpha2" },
];

function definitions(
  items: readonly PathItem[],
  kinds: readonly Message[],
  dialect: Dialect,
  form: Version,
  { catalog, enums }: { readonly catalog: Catalog; readonly enums: boolean },
): Json {
  const used = items.flatMap(({ operations }) =>
    operations.flatMap(({ body, answers }) => [
      body === "deleteOptions" ? DeleteOptions : body,
      ...Object.values(answers),
    ]),
  );
  const messages = used.filter((item): item is Message => typeof item === "object");
  const everywhere = {
    messages: [DeleteOptions, WatchEvent],
    versions: knownVersions(
      catalog.versions
        .filter(({ group }) => catalog.isBuiltIn(group))
        .map(
          ({ endpoints, version, group }) =>
            [...endpoints.values()][0]?.schema.kind ?? { group, branded: false, version },
        ),
      dialect,
    ),
    elsewhere: new Map([[Status, statusVersions]]),
    patch: items.some(({ operations }) => operations.some(({ body }) => body === "patch")),
    enums,
  };
  return collectDefinitions(
    [...kinds, ...messages, ...(kinds.length > 0 ? [Status, DeleteOptions] : [])],
    dialect,
    form,
    everywhere,
  );
}

const answerSchema = (answer: Operation["answers"][string], dialect: Dialect, form: Version): Json =>
  answer === "string" ? { type: "string" } : { $ref: schemaReference(schemaName(answer, dialect), form) };

function bodySchema(body: NonNullable<Operation["body"]>, dialect: Dialect, form: Version): Json {
  if (body === "patch")
    return {
      $ref: schemaReference(`${dialect.wire.schemaPrefix}.apimachinery.pkg.apis.meta.v1.Patch`, form),
    };
  return {
    $ref: schemaReference(schemaName(body === "deleteOptions" ? DeleteOptions : body, dialect), form),
  };
}

const marks = ({ action, kind }: Operation, dialect: Dialect, form: Version): Json =>
  extensions({ action, "group-version-kind": kind }, dialect, form);

const described: Readonly<Record<string, string>> = {
  "200": "OK",
  "201": "Created",
  "202": "Accepted",
  "401": "Unauthorized",
};

function pathV2({ parameters, operations }: PathItem, dialect: Dialect): Json {
  const parameter = ({ name, in: place, type, required, doc }: Parameter): Json => ({
    name,
    in: place,
    type,
    description: doc,
    uniqueItems: true,
    ...(required && { required }),
  });
  const item: Json = {};
  for (const operation of operations) {
    const body = operation.body && {
      name: "body",
      in: "body",
      ...(operation.body !== "deleteOptions" && { required: true }),
      schema: bodySchema(operation.body, dialect, "v2"),
    };
    const responses = Object.fromEntries(
      Object.entries(operation.answers).map(([status, answer]) => [
        status,
        { description: described[status], schema: answerSchema(answer, dialect, "v2") },
      ]),
    );
    item[operation.method] = {
      ...(operation.doc !== undefined && { description: operation.doc }),
      ...(operation.consumes && { consumes: operation.consumes }),
      ...(operation.produces && { produces: operation.produces }),
      schemes: ["https"],
      tags: [operation.tag],
      operationId: operation.id,
      ...((body || operation.parameters.length > 0) && {
        parameters: [...(body ? [body] : []), ...operation.parameters.map(parameter)],
      }),
      responses: { ...responses, "401": { description: described["401"] } },
      ...marks(operation, dialect, "v2"),
    };
  }
  if (parameters.length > 0) item["parameters"] = parameters.map(parameter);
  return item;
}

function pathV3({ parameters, operations }: PathItem, dialect: Dialect): Json {
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
        content: Object.fromEntries(
          operation.consumes!.map((type) => [type, { schema: bodySchema(operation.body!, dialect, "v3") }]),
        ),
      },
    };
    const responses = Object.fromEntries(
      Object.entries(operation.answers).map(([status, answer]) => [
        status,
        {
          description: described[status],
          content: Object.fromEntries(
            (operation.produces ?? []).map((type) => [type, { schema: answerSchema(answer, dialect, "v3") }]),
          ),
        },
      ]),
    );
    item[operation.method] = {
      tags: [operation.tag],
      ...(operation.doc !== undefined && { description: operation.doc }),
      operationId: operation.id,
      ...(operation.parameters.length > 0 && { parameters: operation.parameters.map(parameter) }),
      ...body,
      responses: { ...responses, "401": { description: described["401"] } },
      ...marks(operation, dialect, "v3"),
    };
  }
  if (parameters.length > 0) item["parameters"] = parameters.map(parameter);
  return item;
}
