// url(), isURL() and the parts of a URL.

import { type Library, declare, method, overload } from "../declarations.ts";
import { type CelType, listOf, mapOf, objectType, types } from "../types.ts";
import { type MapKey, MapValue, Opaque, type Value, evaluationError, noSuchOverload } from "../values.ts";
import { readWhole } from "../walk-limit.ts";
import { type ParsedUrl, hostname, parseUrl, port, queryValues } from "./url-value.ts";

const { bool, string } = types;

export function urlsLibrary(typePrefix: string): Library {
  const type = objectType(`${typePrefix}.URL`);
  const part = (name: string, id: string, result: CelType, read: (url: ParsedUrl) => Value) =>
    declare(
      name,
      method(id, [type], result, (url) => {
        if (!(url instanceof UrlValue)) throw noSuchOverload();
        return read(url.parsed);
      }),
    );
  return [
    declare(
      "url",
      overload("string_to_url", [string], type, (text) => new UrlValue(type, text as string)),
    ),
    declare(
      "isURL",
      overload(
        "is_url_string",
        [string],
        bool,
        (text) => parseUrl(readWhole(text as string), true) !== undefined,
      ),
    ),
    part("getScheme", "url_get_scheme", string, (url) => url.scheme),
    part("getHost", "url_get_host", string, (url) => url.host),
    part("getHostname", "url_get_hostname", string, (url) => hostname(url.host)),
    part("getPort", "url_get_port", string, (url) => port(url.host)),
    part("getEscapedPath", "url_get_escaped_path", string, (url) => url.escapedPath),
    part("getQuery", "url_get_query", mapOf(string, listOf(string)), (url) => {
      const entries = new Map<MapKey, readonly [Value, Value]>();
      for (const [key, values] of queryValues(readWhole(url.query))) entries.set(key, [key, values]);
      return new MapValue(entries);
    }),
  ];
}

class UrlValue extends Opaque {
  readonly type: CelType;
  readonly text: string;
  readonly parsed: ParsedUrl;

  constructor(type: CelType, text: string) {
    super();
    this.type = type;
    this.text = text;
    const parsed = parseUrl(readWhole(text), true) && parseUrl(text, false);
    if (!parsed)
      throw evaluationError(
        `URL parse error during conversion from string: parse ${JSON.stringify(text)}: ${text === "" ? "empty url" : "invalid URI for request"}`,
      );
    this.parsed = parsed;
  }

  override equals(other: Opaque): boolean {
    return other instanceof UrlValue && other.text === this.text;
  }
}
