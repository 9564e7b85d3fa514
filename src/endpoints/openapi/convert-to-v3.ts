// Converts OpenAPI 2 to OpenAPI 3, for extension API servers that only publish the older version.

type Json = Record<string, unknown>;

const isObject = (value: unknown): value is Json =>
  typeof value === "object" && value !== null && !Array.isArray(value);
const methods = new Set(["get", "put", "post", "delete", "options", "head", "patch"]);

/** Returns the document of one group version: the paths below its root. */
export function convertedToV3(document: Json, root: string): Json {
  const paths = isObject(document["paths"]) ? document["paths"] : {};
  const kept = Object.entries(paths).filter(([path]) => path === root || path.startsWith(`${root}/`));
  const { securityDefinitions, definitions } = document;
  return withReferences({
    openapi: "3.0.0",
    info: document["info"] ?? { title: "", version: "" },
    paths: Object.fromEntries(kept.map(([path, item]) => [path, pathItem(item)])),
    components: {
      ...(isObject(definitions) && { schemas: definitions }),
      ...(isObject(securityDefinitions) && { securitySchemes: securityDefinitions }),
    },
  }) as Json;
}

function pathItem(item: unknown): unknown {
  if (!isObject(item)) return item;
  return Object.fromEntries(
    Object.entries(item).map(([key, value]) => {
      if (methods.has(key)) return [key, operation(value)];
      return [key, key === "parameters" ? parametersOf(value).map(parameter) : value];
    }),
  );
}

const parametersOf = (value: unknown): Json[] => (Array.isArray(value) ? value.filter(isObject) : []);

function operation(value: unknown): unknown {
  if (!isObject(value)) return value;
  const { consumes, produces, schemes: _schemes, parameters, responses, ...rest } = value;
  const all = parametersOf(parameters);
  const body = all.find((each) => each["in"] === "body");
  const others = all.filter((each) => each["in"] !== "body").map(parameter);
  return {
    ...rest,
    ...(others.length > 0 && { parameters: others }),
    ...(body && {
      requestBody: {
        ...(typeof body["description"] === "string" && { description: body["description"] }),
        ...(body["required"] === true && { required: true }),
        content: contentOf(consumes, body["schema"]),
      },
    }),
    ...(isObject(responses) && {
      responses: Object.fromEntries(
        Object.entries(responses).map(([status, answer]) => [status, response(answer, produces)]),
      ),
    }),
  };
}

function response(answer: unknown, produces: unknown): unknown {
  if (!isObject(answer)) return answer;
  const { schema, ...rest } = answer;
  return { ...rest, ...(schema !== undefined && { content: contentOf(produces, schema) }) };
}

function contentOf(types: unknown, schema: unknown): Json {
  const named = Array.isArray(types) && types.length > 0 ? (types as string[]) : ["application/json"];
  return Object.fromEntries(named.map((type) => [type, { schema }]));
}

/** Moves the fields that describe the parameter's values into a schema. */
function parameter(value: Json): Json {
  const { name, in: place, description, required, $ref, ...schema } = value;
  if ($ref !== undefined) return { $ref };
  return {
    name,
    in: place,
    ...(description !== undefined && { description }),
    ...(required !== undefined && { required }),
    schema,
  };
}

function withReferences(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withReferences);
  if (!isObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, inner]) => [
      key,
      key === "$ref" && typeof inner === "string"
        ? inner.replace(/^#\/definitions\//, "#/components/schemas/")
        : withReferences(inner),
    ]),
  );
}
