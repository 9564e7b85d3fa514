// Which representation a client gets: the first acceptable clause of its Accept header wins.
import { ApiError, notAcceptable, unsupportedMediaType } from "#base";
import { type Dialect, groupName } from "#dialect";
import { type Call, type Query, header, parseAccept, parseMediaType } from "#http";

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

/** Which forms an endpoint can give. Endpoints have constant ones: what was chosen from them is remembered. */
export interface Offer {
  readonly forms: readonly Form[];
  /** Forms that are not there to be asked for: clauses about them are passed over. */
  readonly without?: readonly Form[];
  readonly media?: readonly Media[];
  /** The object itself has no binary form: clauses that ask for it are passed over. */
  readonly objectsAsText?: boolean;
  /** Whether what is answered with a list cannot be watched by the same verb. */
  readonly unwatched?: boolean;
  /** Whether clients may leave open which sort of application they are. */
  readonly anySort?: boolean;
}

/** What has no other form than itself. */
export const justObjects: Offer = { forms: ["object"] };

const forms: readonly Form[] = ["Table", "PartialObjectMetadata", "PartialObjectMetadataList"];
const everyMedia: readonly Media[] = ["json", "yaml", "protobuf"];

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

/** A form that the media type has, but not what is asked for: a list of one object, an object of a list. */
export class UnfitForm extends ApiError {
  readonly form: Form;
  /** `type` is what kube-apiserver calls the type of one such object. */
  constructor(form: Form, type = "runtime.Object") {
    const requested = form === "PartialObjectMetadata" ? `a list (*${type}List)` : `not a list (*${type})`;
    super(406, "NotAcceptable", `you requested ${form}, but the requested object is ${requested}`);
    this.form = form;
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
  const media = offer.media ?? everyMedia;
  if (accept === "") return { media: "json", form: "object", formVersion: "", pretty };
  const [, protobufSubtype] = dialect.wire.protobufMediaType.split("/");
  let understood = false;
  let streamable = true;
  for (const clause of parseAccept(accept)) {
    const found = everyMedia.find(
      (item) =>
        (item === "protobuf"
          ? clause.type === "application" && clause.subtype === protobufSubtype
          : clause.type === "application" && clause.subtype === item) ||
        (item === "json" &&
          clause.subtype === "*" &&
          (clause.type === "*" || (clause.type === "application" && offer.anySort === true))),
    );
    if (!found) continue;
    understood = true;
    // What is wanted most decides, even where a streaming answer in it is impossible.
    if (!media.includes(found)) {
      streamable = false;
      break;
    }
    const { as, g, v, stream, sv, pretty: pretties } = clause.parameters;
    if (stream !== undefined && stream !== "" && stream !== "watch") continue;
    if (sv !== undefined && sv !== "" && sv !== "v1") continue;
    if (as === undefined && g === undefined && v === undefined) {
      if (found === "protobuf" && offer.objectsAsText) continue;
      return { media: found, form: "object", formVersion: "", pretty: pretty || pretties === "1" };
    }
    const form = forms.find((item) => item === as);
    const ours =
      g === groupName(dialect, { group: "meta", branded: true }) || g === dialect.wire.clientMetaGroup;
    if (!form || !ours || (v !== "v1" && v !== "v1beta1") || !offer.forms.some((item) => item !== "object"))
      continue;
    if (form === "Table" && found === "protobuf") continue;
    if (offer.without?.includes(form)) continue;
    // The client gets what it asked for first or nothing, even where it would take something else.
    if (!offer.forms.includes(form)) throw new UnfitForm(form);
    return { media: found, form, formVersion: `${g}/${v}`, pretty: pretty || pretties === "1" };
  }
  const types = everyMedia.map((item) => contentType(item, dialect));
  const streams = [types[0]!, types.at(-1)!].map((type) => `${type};stream=watch`);
  // Paths of defined kinds have no list of what they can give.
  if (understood || offer.anySort || offer.objectsAsText)
    throw notAcceptable(
      `only the following media types are accepted: ${(streamable ? types : streams).join(", ")}`,
    );
  // What lists an object's kind can watch it, too.
  const watched =
    media !== everyMedia || (offer.forms.includes("PartialObjectMetadataList") && !offer.unwatched);
  throw noRepresentation([...types, ...(watched ? streams : [])]);
}

/** A request that accepts none of the types that its path has. */
export const noRepresentation = (types: readonly string[]): ApiError =>
  new ApiError(
    406,
    "NotAcceptable",
    `406: Not Acceptable\n\nAvailable representations: ${types.join(", ")}`,
    {},
  );

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
