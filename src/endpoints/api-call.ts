// A call on its way through the server, with what the filters have determined about it so far.
import type { AuditRecord } from "#audit";
import type { User } from "#authn";
import { isQualifiedName, timeout } from "#base";
import { type Call, type Query, parseQuery } from "#http";
import type { Span } from "#tracing";
import { type Target, parseTarget } from "./target.ts";

const noHeaders: Readonly<Record<string, string>> = {};

export class ApiCall {
  readonly call: Call;
  readonly query: Query;
  readonly target: Target;
  readonly auditId: string;
  user: User | undefined;
  /** Annotations that authentication adds to the audit event. */
  authenticationAnnotations: Readonly<Record<string, string>> | undefined;
  /** The audit record of the call, if the policy demands one. */
  audit: AuditRecord | undefined;
  /** Deadline of the response, by the monotonic clock. */
  deadline = Infinity;
  /** Length of the body, once it has been read. */
  bodyBytes = 0;
  /** Called when the body has been read, before it is processed; may throw. */
  afterBody: (() => void) | undefined;
  /** The release that removes the requested API, if it is deprecated. */
  removedRelease: string | undefined;
  /** The span of a sampled request. */
  span: Span | undefined;
  /** The operation from reading the body to the response; recorded for every request for a resource. */
  operation: Span | undefined;
  /** Called when a watch has sent its initial events, or has ended. */
  watchStarted: (() => void) | undefined;
  /** Additional fields of the request's log line; only set if requests are logged. */
  logFields: Record<string, unknown> | undefined;
  readonly #warnings: string[] = [];
  #headers: Readonly<Record<string, string>> = noHeaders;
  #abandoned: AbortController | undefined;
  #answeredWith: Error | undefined;

  constructor(call: Call, auditId: string) {
    this.call = call;
    this.auditId = auditId;
    this.query = parseQuery(call.search);
    this.target = parseTarget(call.method, call.path, this.query);
  }

  /**
   * Aborted when the response is no longer wanted: the client has disconnected, or the deadline has passed.
   */
  get signal(): AbortSignal {
    if (this.#abandoned === undefined) {
      const controller = (this.#abandoned = new AbortController());
      const disconnected = (): void => controller.abort(timeout("the client has gone"));
      if (this.call.signal.aborted) disconnected();
      else this.call.signal.addEventListener("abort", disconnected, { once: true });
    }
    return this.#abandoned.signal;
  }

  /** Aborts the handling of this call: it has been answered already. */
  abandon(reason: Error): void {
    this.#answeredWith = reason;
    this.#abandoned ??= new AbortController();
    this.#abandoned.abort(reason);
  }

  /** Throws if the call was abandoned: what was not begun before the response must not be done. */
  throwIfAbandoned(): void {
    if (this.#answeredWith) throw this.#answeredWith;
  }

  get method(): string {
    return this.call.method;
  }

  /** Adds a warning to the response. Repeated warnings are dropped, and their number is limited. */
  warn(text: string): void {
    if (this.#warnings.length < mostWarnings && !this.#warnings.includes(text)) this.#warnings.push(text);
  }

  /**
   * Adds an annotation to the audit event; the first value of a key is kept, as in kube-apiserver. Keys that
   * are no qualified names with a prefix are dropped: webhooks choose theirs.
   */
  annotate(key: string, value: string, level?: "Request"): void {
    if (key.includes("/") && isQualifiedName(key)) this.audit?.annotate(key, value, level);
  }

  get warnings(): readonly string[] {
    return this.#warnings;
  }

  /** Sets a header of the response, whatever it will be. */
  setHeader(name: string, value: string | undefined): void {
    const headers = { ...this.#headers };
    if (value === undefined) delete headers[name];
    else headers[name] = value;
    this.#headers = headers;
  }

  /** Sets several headers at once; if no other headers are set, the object is shared, not copied. */
  setHeaders(headers: Readonly<Record<string, string>>): void {
    this.#headers = this.#headers === noHeaders ? headers : { ...this.#headers, ...headers };
  }

  /** Restores headers that were read before. */
  resetHeaders(headers: Readonly<Record<string, string>>): void {
    this.#headers = headers;
  }

  get headers(): Readonly<Record<string, string>> {
    return this.#headers;
  }
}

const mostWarnings = 64;
