// Encodes events for the wire and the log: as JSON with the field order of the reference, or in the legacy
// format. Strings without characters to escape take a fast path; texts shared between requests are cached.
import { flatText } from "#base";
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
  const { requestUri, impersonatedUser, object, responseStatus, requestObject, responseObject } = event;
  const uri = quoted(requestUri);
  // If the path needs no escapes, its parts do not either.
  const asInPath = uri.length === requestUri.length + 2 && !requestUri.includes("%");
  return `"level":"${event.level}","auditID":${quoted(event.auditId)},"stage":"${event.stage}","requestURI":${uri}${
    impersonatedUser ? impersonationText(event, impersonatedUser) : callerText(event)
  }${object ? (asInPath && object.fromPath ? plainObjectText(object) : objectText(object)) : ""}${
    responseStatus ? statusText(responseStatus) : ""
  }${requestObject === undefined ? "" : `,"requestObject":${requestObject}`}${
    responseObject === undefined ? "" : `,"responseObject":${responseObject}`
  },"requestReceivedTimestamp":"${timeText(event.receivedAt)}","stageTimestamp":"${timeText(event.stageAt)}"${
    event.annotations ? annotationsText(event.annotations) : "}"
  }`;
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

const codeText = (code: number): string => `,"responseStatus":{"metadata":{},"code":${code}}`;
const codeTexts: Readonly<Record<number, string>> = { 200: codeText(200), 201: codeText(201) };

function statusText({ status, message, reason, details, code }: ResponseStatus): string {
  if (status === undefined && message === undefined) return codeTexts[code] ?? codeText(code);
  return `,"responseStatus":{"metadata":{}${field("status", status)}${field("message", message)}${field("reason", reason)}${
    details === undefined ? "" : `,"details":${JSON.stringify(details)}`
  },"code":${code}}`;
}

const maxCachedAnnotations = 256;
/** By the value of the last annotation, the reason of the decision in most events. */
let knownAnnotations = new Map<string, { readonly of: Annotations; readonly text: string }>();

/** Returns the last field and the closing brace. */
function annotationsText(annotations: Annotations): string {
  const key = annotations.at(-1)?.[1] ?? "";
  const known = knownAnnotations.get(key);
  if (known !== undefined && areSame(annotations, known.of)) return known.text;
  let text = "";
  for (const [name, value] of inOrder(annotations))
    text += `${text === "" ? ',"annotations":{' : ","}${quoted(name)}:${quoted(value)}`;
  text = text === "" ? "}" : `${text}}}`;
  if (text.length > maxCachedLength) return text;
  if (knownAnnotations.size >= maxCachedAnnotations) knownAnnotations = new Map();
  knownAnnotations.set(key, { of: annotations, text: flatText(text) });
  return text;
}

function areSame(one: Annotations, other: Annotations): boolean {
  if (one.length !== other.length) return false;
  for (let at = 0; at < one.length; at++)
    if (one[at]![0] !== other[at]![0] || one[at]![1] !== other[at]![1]) return false;
  return true;
}

/** Sorts by key; most annotations are sorted already. */
function inOrder(annotations: Annotations): Annotations {
  for (let at = 1; at < annotations.length; at++)
    if (annotations[at - 1]![0] > annotations[at]![0])
      return annotations.toSorted(([one], [other]) => (one < other ? -1 : 1));
  return annotations;
}

const maxCachedLength = 1024;
const maxCachedVerbs = 16;

interface CallerTexts {
  readonly user: AuditUser | undefined;
  readonly byVerb: Map<string, string>;
}

/** By connection, which usually serves one user. */
const knownCallers = new WeakMap<AuditClient, CallerTexts>();

/** Returns the verb, the user and the client. The text is shared by the requests of a connection. */
function callerText({ verb, user, client }: AuditEvent): string {
  let known = knownCallers.get(client);
  if (known === undefined || known.user !== user)
    knownCallers.set(client, (known = { user, byVerb: new Map() }));
  let text = known.byVerb.get(verb);
  if (text !== undefined) return text;
  text = flatText(`,"verb":${quoted(verb)}${userField(user)}${clientText(client)}`);
  // Clients may use arbitrary methods, which become verbs.
  if (known.byVerb.size < maxCachedVerbs) known.byVerb.set(verb, text);
  return text;
}

const impersonationText = ({ verb, user, client }: AuditEvent, impersonated: AuditUser): string =>
  `,"verb":${quoted(verb)}${userField(user)},"impersonatedUser":${userText(impersonated)}${clientText(client)}`;

const thousandths = Array.from({ length: 1000 }, (_, at) => `${at}`.padStart(3, "0"));
let currentSecond = { second: Number.NaN, text: "" };

/** Formats a time with microseconds. The text of the second is shared by all events of that second. */
function timeText(milliseconds: number): string {
  const second = Math.floor(milliseconds / 1000);
  if (second !== currentSecond.second)
    currentSecond = { second, text: flatText(new Date(second * 1000).toISOString().slice(0, 20)) };
  const micros = Math.min(Math.round((milliseconds - second * 1000) * 1000), 999_999);
  return `${currentSecond.text}${thousandths[Math.floor(micros / 1000)]}${thousandths[micros % 1000]}Z`;
}

const userField = (user: AuditUser | undefined): string =>
  user ? `,"user":${userText(user)}` : ',"user":{}';

const userText = ({ name, uid, groups, extra }: AuditUser): string =>
  JSON.stringify({
    ...(name && { username: name }),
    ...(uid && { uid }),
    ...(groups.length > 0 && { groups }),
    ...(extra && Object.keys(extra).length > 0 && { extra }),
  });

const clientText = ({ sourceIps, userAgent }: AuditClient): string =>
  [
    sourceIps.length > 0 ? `,"sourceIPs":${JSON.stringify(sourceIps)}` : "",
    userAgent === "" ? "" : `,"userAgent":${JSON.stringify(userAgent)}`,
  ].join("");

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
