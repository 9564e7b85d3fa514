// Definitions stored in version v1beta1, which is no longer served: it states properties common to all
// versions at the top level.
import type { Json, JsonObject } from "#schema";

/** Converts a definition to version v1. */
export function fromBeta(stored: JsonObject): JsonObject {
  const { version, versions, validation, subresources, additionalPrinterColumns, conversion, ...rest } =
    objectOf(stored["spec"]);
  const names = objectOf(rest["names"]);
  const kind = textOf(names["kind"]);
  const own = listOf(versions).map(objectOf);
  const all = own.length === 0 && version ? [{ name: version, served: true, storage: true }] : own;
  return {
    ...stored,
    spec: {
      ...rest,
      scope: rest["scope"] || "Namespaced",
      names: {
        ...names,
        singular: names["singular"] || kind.toLowerCase(),
        listKind: names["listKind"] || `${kind}List`,
      },
      preserveUnknownFields: rest["preserveUnknownFields"] ?? true,
      versions: all.map((each) => ({
        ...each,
        ...inCommon("schema", validation),
        ...inCommon("subresources", subresources),
        ...columns(additionalPrinterColumns ?? each["additionalPrinterColumns"]),
      })),
      conversion: conversionOf(objectOf(conversion)),
    },
  };
}

const inCommon = (name: string, value: Json | undefined): JsonObject => (value ? { [name]: value } : {});

const columns = (given: Json | undefined): JsonObject => {
  const list = listOf(given).map((each) => {
    const { JSONPath: jsonPath, ...column } = objectOf(each);
    return { ...column, ...(jsonPath !== undefined && { jsonPath }) };
  });
  return list.length > 0 ? { additionalPrinterColumns: list } : {};
};

function conversionOf({
  strategy = "None",
  webhookClientConfig: clientConfig,
  conversionReviewVersions,
}: JsonObject): JsonObject {
  const known = conversionReviewVersions ?? (strategy === "Webhook" ? ["v1beta1"] : undefined);
  if (!clientConfig && !known) return { strategy };
  return {
    strategy,
    webhook: {
      ...(known && { conversionReviewVersions: known }),
      ...(clientConfig && { clientConfig: withPort(objectOf(clientConfig)) }),
    },
  };
}

const withPort = (config: JsonObject): JsonObject =>
  config["service"] ? { ...config, service: { port: 443, ...objectOf(config["service"]) } } : config;

const objectOf = (value: Json | undefined): JsonObject =>
  typeof value === "object" && value !== null && !Array.isArray(value) ? (value as JsonObject) : {};
const listOf = (value: Json | undefined): readonly Json[] => (Array.isArray(value) ? value : []);
const textOf = (value: Json | undefined): string => (typeof value === "string" ? value : "");
