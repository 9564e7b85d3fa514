// An audit event: what is recorded of a request at one stage, and its form on the wire and in the log.

export const levels = ["None", "Metadata", "Request", "RequestResponse"] as const;
export type AuditLevel = (typeof levels)[number];
export const stages = ["RequestReceived", "ResponseStarted", "ResponseComplete", "Panic"] as const;
export type Stage = (typeof stages)[number];

export interface AuditUser {
  readonly name: string;
  readonly uid?: string | undefined;
  readonly groups: readonly string[];
  readonly extra?: Readonly<Record<string, readonly string[]>> | undefined;
}

/** The object a request is about. Parts that are not known are empty. */
export interface ObjectReference {
  resource: string;
  namespace: string;
  name: string;
  uid: string;
  apiGroup: string;
  apiVersion: string;
  resourceVersion: string;
  subresource: string;
}

/** The answer: its code, and what a Status body said. */
export interface ResponseStatus {
  readonly status?: string | undefined;
  readonly message?: string | undefined;
  readonly reason?: string | undefined;
  readonly details?: unknown;
  readonly code: number;
}

export interface AuditEvent {
  readonly level: AuditLevel;
  readonly auditId: string;
  readonly stage: Stage;
  readonly requestUri: string;
  readonly verb: string;
  readonly user: AuditUser | undefined;
  readonly impersonatedUser?: AuditUser | undefined;
  readonly sourceIps: readonly string[];
  readonly userAgent: string;
  readonly object?: Readonly<ObjectReference> | undefined;
  readonly responseStatus?: ResponseStatus | undefined;
  /** JSON texts. */
  readonly requestObject?: string | undefined;
  readonly responseObject?: string | undefined;
  /** Milliseconds since the epoch. */
  readonly receivedAt: number;
  readonly stageAt: number;
  readonly annotations?: Annotations | undefined;
}

/** Notes in the order in which they were made; no key twice. */
export type Annotations = readonly (readonly [key: string, value: string])[];

let currentSecond = { second: Number.NaN, text: "" };

/** Microseconds behind the text of the second, which is made once for all events of that second. */
function timeText(milliseconds: number): string {
  const second = Math.floor(milliseconds / 1000);
  if (second !== currentSecond.second)
    currentSecond = { second, text: new Date(second * 1000).toISOString().slice(0, 20) };
  const micros = Math.min(Math.round((milliseconds - second * 1000) * 1000), 999_999);
  return `${currentSecond.text}${(1_000_000 + micros).toString().slice(1)}Z`;
}

/** Most texts need no escapes: looking is cheaper than having them written. */
const plain = /^[\x20\x21\x23-\x5b\x5d-\x7e]*$/;
const quoted = (text: string): string => (plain.test(text) ? `"${text}"` : JSON.stringify(text));

const field = (name: string, text: string): string => (text === "" ? "" : `,"${name}":${quoted(text)}`);

function userText({ name, uid, groups, extra }: AuditUser): string {
  return JSON.stringify({
    ...(name && { username: name }),
    ...(uid && { uid }),
    ...(groups.length > 0 && { groups }),
    ...(extra && Object.keys(extra).length > 0 && { extra }),
  });
}

function objectText(object: Readonly<ObjectReference>): string {
  const fields =
    field("resource", object.resource) +
    field("namespace", object.namespace) +
    field("name", object.name) +
    field("uid", object.uid) +
    field("apiGroup", object.apiGroup) +
    field("apiVersion", object.apiVersion) +
    field("resourceVersion", object.resourceVersion) +
    field("subresource", object.subresource);
  return `,"objectRef":{${fields.slice(1)}}`;
}

const statusText = ({ status, message, reason, details, code }: ResponseStatus): string =>
  `,"responseStatus":{"metadata":{}${field("status", status ?? "")}${field("message", message ?? "")}${field("reason", reason ?? "")}${
    details === undefined ? "" : `,"details":${JSON.stringify(details)}`
  },"code":${code}}`;

function annotationsText(annotations: Annotations): string {
  let text = "";
  for (const [key, value] of inOrder(annotations)) text += `,${quoted(key)}:${quoted(value)}`;
  return text === "" ? "" : `,"annotations":{${text.slice(1)}}`;
}

/** By key. Most are so already. */
function inOrder(annotations: Annotations): Annotations {
  for (let at = 1; at < annotations.length; at++)
    if (annotations[at - 1]![0] > annotations[at]![0])
      return annotations.toSorted(([one], [other]) => (one < other ? -1 : 1));
  return annotations;
}

/** Users are shared between requests: their text is made once. */
const userTexts = new WeakMap<AuditUser, string>();
function knownUserText(user: AuditUser): string {
  let text = userTexts.get(user);
  if (text === undefined) userTexts.set(user, (text = userText(user)));
  return text;
}

/** The fields of an event behind its type header, without the opening brace. */
function fieldsText(event: AuditEvent): string {
  return `"level":"${event.level}","auditID":${quoted(event.auditId)},"stage":"${event.stage}","requestURI":${quoted(event.requestUri)},"verb":${quoted(event.verb)},"user":${
    event.user ? knownUserText(event.user) : "{}"
  }${event.impersonatedUser ? `,"impersonatedUser":${userText(event.impersonatedUser)}` : ""}${
    event.sourceIps.length > 0 ? `,"sourceIPs":[${event.sourceIps.map(quoted).join(",")}]` : ""
  }${field("userAgent", event.userAgent)}${event.object ? objectText(event.object) : ""}${
    event.responseStatus ? statusText(event.responseStatus) : ""
  }${event.requestObject === undefined ? "" : `,"requestObject":${event.requestObject}`}${
    event.responseObject === undefined ? "" : `,"responseObject":${event.responseObject}`
  },"requestReceivedTimestamp":"${timeText(event.receivedAt)}","stageTimestamp":"${timeText(event.stageAt)}"${
    event.annotations ? annotationsText(event.annotations) : ""
  }}`;
}

/** One event as a JSON document of its own; `apiVersion` is the audit group's. */
export const eventText = (event: AuditEvent, apiVersion: string): string =>
  `{"kind":"Event","apiVersion":"${apiVersion}",${fieldsText(event)}`;

/** An EventList; items carry no type header. */
export const eventListText = (events: readonly AuditEvent[], apiVersion: string): string =>
  `{"kind":"EventList","apiVersion":"${apiVersion}","metadata":{},"items":[${events.map((event) => `{${fieldsText(event)}`).join(",")}]}`;

/** One line of the log's old form. */
export function legacyText(event: AuditEvent): string {
  const { user, impersonatedUser: as } = event;
  const quoted = (texts: readonly string[]): string => texts.map((text) => JSON.stringify(text)).join(",");
  const name = user?.name ? user.name : "<none>";
  const groups = user?.name && user.groups.length > 0 ? quoted(user.groups) : "<none>";
  const parts: readonly (readonly [string, string])[] = [
    ["id", JSON.stringify(event.auditId)],
    ["stage", JSON.stringify(event.stage)],
    ["ip", JSON.stringify(event.sourceIps[0] ?? "<unknown>")],
    ["method", JSON.stringify(event.verb)],
    ["user", JSON.stringify(name)],
    ["groups", groups],
    ["as", JSON.stringify(as ? as.name : "<self>")],
    ["asgroups", as ? quoted(as.groups) : "<lookup>"],
    ["user-agent", JSON.stringify(event.userAgent)],
    ["namespace", JSON.stringify(event.object?.namespace || "<none>")],
    ["uri", JSON.stringify(event.requestUri)],
    ["response", `"${event.responseStatus ? event.responseStatus.code : "<deferred>"}"`],
  ];
  return `${timeText(event.receivedAt)} AUDIT: ${parts.map(([key, value]) => `${key}=${value}`).join(" ")}`;
}
