// Encodes events for the wire and the log: as JSON with the field order of the reference, or in the legacy
// format. Strings without characters to escape take a fast path; texts shared between requests are cached.
import type {
  Annotations,
  AuditClient,
  AuditEvent,
  AuditUser,
  ObjectReference,
  ResponseStatus,
} from "./event.ts";

/** Returns one event as a JSON document; `apiVersion` is that of the audit group. */
export const eventText = (event: AuditEvent, apiVersion: string): string =>
  `{"kind":"Event","apiVersion":"${apiVersion}",${fieldsText(event)}`;

/** Returns an EventList; its items have no type header. */
export const eventListText = (events: readonly AuditEvent[], apiVersion: string): string =>
  `{"kind":"EventList","apiVersion":"${apiVersion}","metadata":{},"items":[${events.map((event) => `{${fieldsText(event)}`).join(",")}]}`;

/** Returns the fields of an event after its type header, without the opening brace. */
function fieldsText(event: AuditEvent): string {
  const { requestUri, user, impersonatedUser, object, responseStatus, requestObject, responseObject } = event;
  const uri = quoted(requestUri);
  // If the path needs no escapes, its parts do not either.
  const asInPath = uri.length === requestUri.length + 2 && !requestUri.includes("%");
  return `"level":"${event.level}","auditID":${quoted(event.auditId)},"stage":"${event.stage}","requestURI":${uri},"verb":${cachedQuoted(event.verb)}${
    user ? cachedUserText(user) : ',"user":{}'
  }${impersonatedUser ? `,"impersonatedUser":${userText(impersonatedUser)}` : ""}${cachedClientText(event.client)}${
    object ? (asInPath && object.fromPath ? plainObjectText(object) : objectText(object)) : ""
  }${responseStatus ? statusText(responseStatus) : ""}${
    requestObject === undefined ? "" : `,"requestObject":${requestObject}`
  }${responseObject === undefined ? "" : `,"responseObject":${responseObject}`},"requestReceivedTimestamp":"${timeText(
    event.receivedAt,
  )}","stageTimestamp":"${timeText(event.stageAt)}"${event.annotations ? annotationsText(event.annotations) : ""}}`;
}

const plain = /^[\x20\x21\x23-\x5b\x5d-\x7e]*$/;
const quoted = (text: string): string => (plain.test(text) ? `"${text}"` : JSON.stringify(text));

const field = (name: string, text: string | undefined): string => (text ? `,"${name}":${quoted(text)}` : "");
const plainField = (name: string, text: string): string => (text === "" ? "" : `,"${name}":"${text}"`);

const objectText = (object: ObjectReference): string =>
  `,"objectRef":{"resource":${quoted(object.resource)}${field("namespace", object.namespace)}${field("name", object.name)}${field(
    "uid",
    object.uid,
  )}${field("apiGroup", object.apiGroup)}${field("apiVersion", object.apiVersion)}${field(
    "resourceVersion",
    object.resourceVersion,
  )}${field("subresource", object.subresource)}}`;

/** For objects identified by the path alone, which have no uid and no resource version. */
const plainObjectText = ({
  resource,
  namespace,
  name,
  apiGroup,
  apiVersion,
  subresource,
}: ObjectReference): string =>
  `,"objectRef":{"resource":"${resource}"${plainField("namespace", namespace)}${plainField("name", name)}${plainField(
    "apiGroup",
    apiGroup,
  )}${plainField("apiVersion", apiVersion)}${plainField("subresource", subresource)}}`;

function statusText({ status, message, reason, details, code }: ResponseStatus): string {
  if (status === undefined && message === undefined)
    return `,"responseStatus":{"metadata":{},"code":${code}}`;
  return `,"responseStatus":{"metadata":{}${field("status", status)}${field("message", message)}${field("reason", reason)}${
    details === undefined ? "" : `,"details":${JSON.stringify(details)}`
  },"code":${code}}`;
}

function annotationsText(annotations: Annotations): string {
  let text = "";
  for (const [key, value] of inOrder(annotations)) text += `,${cachedQuoted(key)}:${cachedQuoted(value)}`;
  return text === "" ? "" : `,"annotations":{${text.slice(1)}}`;
}

/** Sorts by key; most annotations are sorted already. */
function inOrder(annotations: Annotations): Annotations {
  for (let at = 1; at < annotations.length; at++)
    if (annotations[at - 1]![0] > annotations[at]![0])
      return annotations.toSorted(([one], [other]) => (one < other ? -1 : 1));
  return annotations;
}

const maxCachedTexts = 1024;
const maxCachedLength = 512;
let cachedTexts = new Map<string, string>();

/** Caches the JSON form of verbs, annotation keys and decision reasons, of which there are few. */
function cachedQuoted(text: string): string {
  let known = cachedTexts.get(text);
  if (known !== undefined) return known;
  known = JSON.stringify(text);
  if (text.length > maxCachedLength) return known;
  if (cachedTexts.size >= maxCachedTexts) cachedTexts = new Map();
  cachedTexts.set(text, known);
  return known;
}

let currentSecond = { second: Number.NaN, text: "" };

/** Formats a time with microseconds. The text of the second is shared by all events of that second. */
function timeText(milliseconds: number): string {
  const second = Math.floor(milliseconds / 1000);
  if (second !== currentSecond.second)
    currentSecond = { second, text: new Date(second * 1000).toISOString().slice(0, 20) };
  const micros = Math.min(Math.round((milliseconds - second * 1000) * 1000), 999_999);
  return `${currentSecond.text}${(1_000_000 + micros).toString().slice(1)}Z`;
}

const userText = ({ name, uid, groups, extra }: AuditUser): string =>
  JSON.stringify({
    ...(name && { username: name }),
    ...(uid && { uid }),
    ...(groups.length > 0 && { groups }),
    ...(extra && Object.keys(extra).length > 0 && { extra }),
  });

/** Caches the text of an object that requests share. */
function memoize<T extends object>(textFor: (value: T) => string): (value: T) => string {
  const known = new WeakMap<T, string>();
  return (value) => {
    let text = known.get(value);
    if (text === undefined) known.set(value, (text = textFor(value)));
    return text;
  };
}

const cachedUserText = memoize((user: AuditUser) => `,"user":${userText(user)}`);
const cachedClientText = memoize(({ sourceIps, userAgent }: AuditClient) =>
  [
    sourceIps.length > 0 ? `,"sourceIPs":${JSON.stringify(sourceIps)}` : "",
    userAgent === "" ? "" : `,"userAgent":${JSON.stringify(userAgent)}`,
  ].join(""),
);

/** Returns one line of the legacy log format. */
export function legacyText(event: AuditEvent): string {
  const { user, client, impersonatedUser: as } = event;
  const quoted = (texts: readonly string[]): string => texts.map((text) => JSON.stringify(text)).join(",");
  const name = user?.name ? user.name : "<none>";
  const groups = user?.name && user.groups.length > 0 ? quoted(user.groups) : "<none>";
  const parts: readonly (readonly [string, string])[] = [
    ["id", JSON.stringify(event.auditId)],
    ["stage", JSON.stringify(event.stage)],
    ["ip", JSON.stringify(client.sourceIps[0] ?? "<unknown>")],
    ["method", JSON.stringify(event.verb)],
    ["user", JSON.stringify(name)],
    ["groups", groups],
    ["as", JSON.stringify(as ? as.name : "<self>")],
    ["asgroups", as ? quoted(as.groups) : "<lookup>"],
    ["user-agent", JSON.stringify(client.userAgent)],
    ["namespace", JSON.stringify(event.object?.namespace || "<none>")],
    ["uri", JSON.stringify(event.requestUri)],
    ["response", `"${event.responseStatus ? event.responseStatus.code : "<deferred>"}"`],
  ];
  return `${timeText(event.receivedAt)} AUDIT: ${parts.map(([key, value]) => `${key}=${value}`).join(" ")}`;
}
