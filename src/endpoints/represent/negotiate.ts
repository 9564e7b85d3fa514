// Which representation a client gets: the first acceptable clause of its Accept header wins. Whether the path has
// any of the types that a client names at all is looked at before (route-media.ts).
import { ApiError, notAcceptable, unsupportedMediaType } from "#base";
import { type Dialect, groupName } from "#dialect";
import { type Call, type MediaType, type Query, header, parseAccept, parseMediaType } from "#http";

export type Media = "json" | "yaml" | "protobuf";

/** A form other than the object itself. */
export type Form = "object" | "Table" | "PartialObjectMetadata" | "PartialObjectMetadataList";

export interface Choice {
  readonly media: Media;
  readonly form: Form;
  /** The group and version the form was asked in, and is answered in. */
  readonly formVersion: string;
  readonly pretty: boolean;
}

export const contentType = (media: Media, dialect: Dialect): string =>
  media === "json"
    ? "application/json"
    : media === "yaml"
      ? "application/yaml"
      : dialect.wire.protobufMediaType;

/**
 * What an endpoint lets clients ask for. Endpoints have constant ones: what was chosen from them is remembered.
 */
export interface Offer {
  /** The forms beside the object itself. Whether one fits what is answered is found out when it is made. */
  readonly forms: readonly Exclude<Form, "object">[];
  /** The object itself has no binary form: clauses that ask for it are passed over. */
  readonly objectsAsText?: boolean;
}

/** What has no other form than itself. */
export const justObjects: Offer = { forms: [] };
/** What can be asked for as metadata alone, but has no columns. */
export const withoutTable: Offer = { forms: ["PartialObjectMetadata", "PartialObjectMetadataList"] };
export const everyForm: Offer = { forms: ["Table", ...withoutTable.forms] };
/** Those of defined kinds. */
export const customForms: Offer = { ...everyForm, objectsAsText: true };

/** In the order in which a clause that leaves it open is answered. */
export const everyMedia: readonly Media[] = ["json", "yaml", "protobuf"];

/** Clients send few different Accept headers, again and again; long ones are not worth keeping. */
const mostRemembered = 64;
const longestRemembered = 256;

/**
 * The choice of each Accept header; those to be printed for people have a space before it, as no header has.
 * Refusals are not kept.
 */
interface Remembered {
  readonly dialect: Dialect;
  readonly choices: Map<string, Choice>;
}
const remembered = new WeakMap<Offer, Remembered>();

/** A form that does not fit what is answered: a list of one object, one object of a list. */
export class UnfitForm extends ApiError {
  /** `type` is what kube-apiserver calls the type of one such object. */
  constructor(form: Form, type: string) {
    const requested = form === "PartialObjectMetadata" ? `a list (*${type}List)` : `not a list (*${type})`;
    super(406, "NotAcceptable", `you requested ${form}, but the requested object is ${requested}`);
  }
}

export function negotiate(call: Call, query: Query, dialect: Dialect, offer: Offer): Choice {
  const accept = header(call.headers, "accept") ?? "";
  const pretty = wantsPretty(call, query);
  const key = pretty ? ` ${accept}` : accept;
  let known = remembered.get(offer);
  const choice = known?.dialect === dialect ? known.choices.get(key) : undefined;
  if (choice) return choice;
  const made = choose(accept, pretty, dialect, offer);
  if (key.length > longestRemembered) return made;
  if (known?.dialect !== dialect) remembered.set(offer, (known = { dialect, choices: new Map() }));
  if (known.choices.size >= mostRemembered) known.choices.clear();
  known.choices.set(key, made);
  return made;
}

function choose(accept: string, pretty: boolean, dialect: Dialect, offer: Offer): Choice {
  if (accept === "") return { media: "json", form: "object", formVersion: "", pretty };
  const choice = firstAcceptable(accept, dialect, (media, parameters): Choice | undefined => {
    const { as, g, v, sv, pretty: pretties } = parameters;
    if (sv && (sv !== "v1" || offer.forms.length === 0)) return undefined;
    const printed = { media, pretty: pretty || pretties === "1" };
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
 * What `accept` makes of the first clause of an Accept header, and of the first media type it stands for, that it
 * takes.
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

/** Watches are streams, which YAML has no form for. */
export function checkStreams({ media }: Choice, dialect: Dialect): void {
  if (media !== "yaml") return;
  throw onlyAccepted(streamed.map((item) => `${contentType(item, dialect)};stream=watch`));
}

const streamed: readonly Media[] = ["json", "protobuf"];

const onlyAccepted = (types: readonly string[]): ApiError =>
  notAcceptable(`only the following media types are accepted: ${types.join(", ")}`);

function wantsPretty(call: Call, query: Query): boolean {
  const asked = query.get("pretty");
  if (asked) return ["1", "t", "T", "TRUE", "true", "True"].includes(asked);
  return /^(curl|Wget|Mozilla\/5\.0)/.test(header(call.headers, "user-agent") ?? "");
}

/** A media type whose every parameter has a value. */
const wellFormed = /^[^;]*(?:;\s*(?:[^\s;="]+=(?:[^\s;"]+|"(?:[^"\\]|\\.)*")\s*)?)*$/;

/** The media type of a request body; JSON when none is said. */
export function bodyMedia(call: Call, dialect: Dialect): Media {
  const said = header(call.headers, "content-type");
  if (said === undefined || said === "" || said === "application/json") return "json";
  const parsed = wellFormed.test(said) ? parseMediaType(said) : undefined;
  const essence = parsed && `${parsed.type}/${parsed.subtype}`;
  // Clients that only know their own name for the binary form send the same bytes, and take JSON for an
  // answer.
  if (essence === dialect.wire.clientProtobufMediaType) return "protobuf";
  const media = everyMedia.find((item) => contentType(item, dialect) === essence);
  if (!media)
    throw unsupportedMediaType(
      `the body of the request was in an unknown format - accepted media types include: ${everyMedia.map((item) => contentType(item, dialect)).join(", ")}`,
    );
  return media;
}
