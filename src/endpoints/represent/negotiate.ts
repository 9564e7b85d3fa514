// Content negotiation: the first acceptable clause of the Accept header wins. Whether the path supports any
// of the client's types at all has been checked before (route-media.ts).
import { ApiError, notAcceptable, unsupportedMediaType } from "#base";
import { type Dialect, groupName } from "#dialect";
import { type Call, type MediaType, type Query, header, parseAccept, parseMediaType } from "#http";

export type Media = "json" | "yaml" | "protobuf";

/** The object itself or a transformation of it. */
export type Form = "object" | "Table" | "PartialObjectMetadata" | "PartialObjectMetadataList";

export interface Choice {
  readonly media: Media;
  readonly form: Form;
  /** The group and version in which the form was requested and is returned. */
  readonly formVersion: string;
  readonly pretty: boolean;
}

export const contentType = (media: Media, dialect: Dialect): string =>
  media === "json"
    ? "application/json"
    : media === "yaml"
      ? "application/yaml"
      : dialect.wire.protobufMediaType;

/** The forms an endpoint supports. Endpoints use constant objects, under which choices are cached. */
export interface Offer {
  /**
   * Forms in addition to the object itself. Whether one fits the result is only checked when it is encoded.
   */
  readonly forms: readonly Exclude<Form, "object">[];
  /** The object itself has no binary encoding: clauses that request it are skipped. */
  readonly objectsAsText?: boolean;
}

/** Only the object itself is supported. */
export const justObjects: Offer = { forms: [] };
/** Supports metadata-only forms, but no table. */
export const withoutTable: Offer = { forms: ["PartialObjectMetadata", "PartialObjectMetadataList"] };
export const everyForm: Offer = { forms: ["Table", ...withoutTable.forms] };
/** The forms of custom kinds. */
export const customForms: Offer = { ...everyForm, objectsAsText: true };

/** In order of preference for clauses with a wildcard. */
export const everyMedia: readonly Media[] = ["json", "yaml", "protobuf"];

/** Clients use few different Accept headers repeatedly; long ones are not cached. */
const maxCached = 64;
const maxCachedLength = 256;

/**
 * Cached choices by Accept header; keys of indented output are prefixed with a space, which headers cannot
 * start with. Errors are not cached.
 */
interface CachedChoices {
  readonly dialect: Dialect;
  readonly choices: Map<string, Choice>;
}
const choiceCache = new WeakMap<Offer, CachedChoices>();

/** The requested form does not fit the result: a list form for one object or vice versa. */
export class UnfitForm extends ApiError {
  /** `type` is the Go type of one such object in kube-apiserver. */
  constructor(form: Form, type: string) {
    const requested = form === "PartialObjectMetadata" ? `a list (*${type}List)` : `not a list (*${type})`;
    super(406, "NotAcceptable", `you requested ${form}, but the requested object is ${requested}`);
  }
}

export function negotiate(call: Call, query: Query, dialect: Dialect, offer: Offer): Choice {
  const accept = header(call.headers, "accept") ?? "";
  const pretty = wantsPretty(call, query);
  const key = pretty ? ` ${accept}` : accept;
  let known = choiceCache.get(offer);
  const choice = known?.dialect === dialect ? known.choices.get(key) : undefined;
  if (choice) return choice;
  const made = choose(accept, pretty, dialect, offer);
  if (key.length > maxCachedLength) return made;
  if (known?.dialect !== dialect) choiceCache.set(offer, (known = { dialect, choices: new Map() }));
  if (known.choices.size >= maxCached) known.choices.clear();
  known.choices.set(key, made);
  return made;
}

function choose(accept: string, pretty: boolean, dialect: Dialect, offer: Offer): Choice {
  if (accept === "") return { media: "json", form: "object", formVersion: "", pretty };
  const choice = firstAcceptable(accept, dialect, (media, parameters): Choice | undefined => {
    const { as, g, v, sv, pretty: prettyParameter } = parameters;
    if (sv && (sv !== "v1" || offer.forms.length === 0)) return undefined;
    const printed = { media, pretty: pretty || prettyParameter === "1" };
    if (as === undefined && g === undefined && v === undefined)
      return media === "protobuf" && offer.objectsAsText
        ? undefined
        : { ...printed, form: "object", formVersion: "" };
    const form = offer.forms.find((item) => item === as);
    const ours =
      g === groupName(dialect, { group: "meta", branded: true }) || g === dialect.wire.clientMetaGroup;
    if (!form || !ours || (v !== "v1" && v !== "v1beta1")) return undefined;
    return form === "Table" && media === "protobuf"
      ? undefined
      : { ...printed, form, formVersion: `${g}/${v}` };
  });
  if (choice) return choice;
  throw onlyAccepted(everyMedia.map((item) => contentType(item, dialect)));
}

/**
 * Returns the result of `accept` for the first clause of an Accept header, and its first media type, for
 * which it is not undefined.
 */
export function firstAcceptable<T>(
  header: string,
  dialect: Dialect,
  accept: (media: Media, parameters: MediaType["parameters"]) => T | undefined,
): T | undefined {
  const [, protobufSubtype] = dialect.wire.protobufMediaType.split("/");
  for (const { type, subtype, parameters } of parseAccept(header)) {
    if (type !== "application" && (type !== "*" || subtype !== "*")) continue;
    for (const media of everyMedia) {
      if (subtype !== "*" && subtype !== (media === "protobuf" ? protobufSubtype : media)) continue;
      const { stream } = parameters;
      if (stream && (stream !== "watch" || media === "yaml")) continue;
      const found = accept(media, parameters);
      if (found !== undefined) return found;
    }
  }
  return undefined;
}

/** Rejects YAML for watches, which cannot be streamed in it. */
export function checkStreams({ media }: Choice, dialect: Dialect): void {
  if (media !== "yaml") return;
  throw onlyAccepted(streamed.map((item) => `${contentType(item, dialect)};stream=watch`));
}

const streamed: readonly Media[] = ["json", "protobuf"];

const onlyAccepted = (types: readonly string[]): ApiError =>
  notAcceptable(`only the following media types are accepted: ${types.join(", ")}`);

function wantsPretty(call: Call, query: Query): boolean {
  const requested = query.get("pretty");
  if (requested) return ["1", "t", "T", "TRUE", "true", "True"].includes(requested);
  return /^(curl|Wget|Mozilla\/5\.0)/.test(header(call.headers, "user-agent") ?? "");
}

/** A media type whose parameters all have values. */
const wellFormed = /^[^;]*(?:;\s*(?:[^\s;="]+=(?:[^\s;"]+|"(?:[^"\\]|\\.)*")\s*)?)*$/;

/** The media type of a request body; the default is JSON. */
export function bodyMedia(call: Call, dialect: Dialect): Media {
  const contentTypeHeader = header(call.headers, "content-type");
  if (contentTypeHeader === undefined || contentTypeHeader === "" || contentTypeHeader === "application/json")
    return "json";
  const parsed = wellFormed.test(contentTypeHeader) ? parseMediaType(contentTypeHeader) : undefined;
  const essence = parsed && `${parsed.type}/${parsed.subtype}`;
  // Clients that use their own name for the binary encoding send the same bytes, and accept JSON responses.
  if (essence === dialect.wire.clientProtobufMediaType) return "protobuf";
  const media = everyMedia.find((item) => contentType(item, dialect) === essence);
  if (!media)
    throw unsupportedMediaType(
      `the body of the request was in an unknown format - accepted media types include: ${everyMedia.map((item) => contentType(item, dialect)).join(", ")}`,
    );
  return media;
}
