// Formats an audit event as one line: time, user, verb, object and result.

/** The displayed or filtered fields of an audit event. */
export interface LoggedEvent {
  readonly auditID?: string;
  readonly stage?: string;
  readonly verb?: string;
  readonly requestURI?: string;
  readonly user?: { readonly username?: string };
  readonly impersonatedUser?: { readonly username?: string };
  readonly objectRef?: {
    readonly resource?: string;
    readonly subresource?: string;
    readonly namespace?: string;
    readonly name?: string;
    readonly apiGroup?: string;
  };
  readonly responseStatus?: { readonly code?: number; readonly reason?: string; readonly message?: string };
  readonly responseObject?: unknown;
  readonly requestReceivedTimestamp?: string;
  readonly stageTimestamp?: string;
}

export interface EventFilter {
  readonly user?: string | undefined;
  readonly verb?: string | undefined;
  /** `deployments`, `deployments.apps` or `pods/exec`. */
  readonly resource?: string | undefined;
  readonly namespace?: string | undefined;
  readonly name?: string | undefined;
  /** `403`, or `4xx` for the whole class. */
  readonly code?: string | undefined;
  readonly id?: string | undefined;
  /** Unix time in milliseconds. */
  readonly since?: number | undefined;
  readonly until?: number | undefined;
}

export function matches(event: LoggedEvent, filter: EventFilter): boolean {
  const { objectRef: object = {}, user, impersonatedUser } = event;
  const names = [user?.username ?? "", ...(impersonatedUser ? [impersonatedUser.username ?? ""] : [])];
  const code = String(event.responseStatus?.code ?? "");
  const at = Date.parse(event.requestReceivedTimestamp ?? "");
  return (
    (filter.user === undefined || names.includes(filter.user)) &&
    (filter.verb === undefined || filter.verb === event.verb) &&
    (filter.resource === undefined || resourceNames(object).includes(filter.resource)) &&
    (filter.namespace === undefined || filter.namespace === (object.namespace ?? "")) &&
    (filter.name === undefined || filter.name === (object.name ?? "")) &&
    (filter.code === undefined || filter.code === code || filter.code === `${code.slice(0, 1)}xx`) &&
    (filter.id === undefined || filter.id === event.auditID) &&
    (filter.since === undefined || at >= filter.since) &&
    (filter.until === undefined || at <= filter.until)
  );
}

type Reference = NonNullable<LoggedEvent["objectRef"]>;

/** Returns all accepted names of an event's resource. */
function resourceNames({ resource = "", apiGroup = "", subresource = "" }: Reference): string[] {
  const names = apiGroup === "" ? [resource] : [resource, `${resource}.${apiGroup}`];
  return subresource === "" ? names : [...names, ...names.map((name) => `${name}/${subresource}`)];
}

/**
 * Formats e.g. `06:01:02.123 alice as bob patch deployments.apps/web in default: 200, 12 ms`, preceded by the
 * date.
 */
export function lineOf(event: LoggedEvent): string {
  const { user, impersonatedUser: as, verb = "", responseStatus: status = {} } = event;
  const received = event.requestReceivedTimestamp ?? "";
  const time = received.slice(0, 23).replace("T", " ");
  const duration = Date.parse(event.stageTimestamp ?? "") - Date.parse(received);
  const actor = `${printable(user?.username || "<none>")}${as ? ` as ${printable(as.username ?? "")}` : ""}`;
  const reason =
    status.code !== undefined && status.code >= 400 ? (status.reason ?? status.message ?? "") : "";
  const result = [
    event.stage === "Panic" ? "panic" : String(status.code ?? "no response"),
    ...(reason === "" ? [] : [printable(reason)]),
    ...(Number.isNaN(duration) ? [] : [`${duration} ms`]),
  ];
  return `${time}  ${actor}  ${printable(verb)} ${targetOf(event)}: ${result.join(", ")}`;
}

function targetOf({ objectRef, requestURI = "" }: LoggedEvent): string {
  if (!objectRef?.resource) return printable(requestURI);
  const { resource, apiGroup, subresource, namespace, name } = objectRef;
  const kind = apiGroup ? `${resource}.${apiGroup}` : resource;
  const target = [kind, ...(name ? [name] : []), ...(subresource ? [subresource] : [])].join("/");
  return printable(namespace ? `${target} in ${namespace}` : target);
}

/** Replaces control characters, since the text was chosen by clients and must not control the terminal. */
export const printable = (text: string): string =>
  // oxlint-disable-next-line no-control-regex -- matching control characters is intended
  text.replaceAll(/[\u0000-\u001f\u007f-\u009f\u2028\u2029\u202a-\u202e\u2066-\u2069]/g, "\u{fffd}");
