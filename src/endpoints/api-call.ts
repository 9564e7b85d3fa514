// A call on its way through the server: what the steps have found out about it so far.
import type { AuditRecord } from "#audit";
import type { User } from "#authn";
import { timeout } from "#base";
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
  /** What authentication noted for the audit event. */
  authenticationNotes: Readonly<Record<string, string>> | undefined;
  /** What is recorded of the call, if anything is. */
  audit: AuditRecord | undefined;
  /** Milliseconds since the epoch by which the answer should be out. */
  deadline = Infinity;
  /** How long the body was, once it has been read. */
  bodyBytes = 0;
  /** Called when the body has been read, before anything is done with it; may throw. */
  afterBody: (() => void) | undefined;
  /** The release that removes the requested API, if it is deprecated. */
  removedRelease: string | undefined;
  /** The span of a sampled request. */
  span: Span | undefined;
  /** What is done for the request, from its body to its answer; recorded for every request about a resource. */
  operation: Span | undefined;
  /** Called when a watch has sent its initial events, or has ended. */
  watchStarted: (() => void) | undefined;
  /** What the log tells of the request beside the usual; only there where requests are logged. */
  logged: Record<string, unknown> | undefined;
  readonly #warnings: string[] = [];
  #headers: Readonly<Record<string, string>> = noHeaders;
  #abandoned: AbortController | undefined;

  constructor(call: Call, auditId: string) {
    this.call = call;
    this.auditId = auditId;
    this.query = parseQuery(call.search);
    this.target = parseTarget(call.method, call.path, this.query);
  }

  /** Aborted when nobody waits for the answer any longer: the client has gone, or was told that it is late. */
  get signal(): AbortSignal {
    if (this.#abandoned === undefined) {
      const controller = (this.#abandoned = new AbortController());
      const gone = (): void => controller.abort(timeout("the client has gone"));
      if (this.call.signal.aborted) gone();
      else this.call.signal.addEventListener("abort", gone, { once: true });
    }
    return this.#abandoned.signal;
  }

  /** Ends what is being done for this call: its answer has been given already. */
  abandon(reason: Error): void {
    this.#abandoned ??= new AbortController();
    this.#abandoned.abort(reason);
  }

  get method(): string {
    return this.call.method;
  }

  /** Says something to the client beside the answer. Repeats are dropped, and the whole stays small. */
  warn(text: string): void {
    if (this.#warnings.length < mostWarnings && !this.#warnings.includes(text)) this.#warnings.push(text);
  }

  /** Adds to the audit event of the request; the first value of a key stays, as in kube-apiserver. */
  annotate(key: string, value: string): void {
    this.audit?.annotate(key, value);
  }

  get warnings(): readonly string[] {
    return this.#warnings;
  }

  /** A header for whatever answer this call gets. */
  setHeader(name: string, value: string | undefined): void {
    const headers = { ...this.#headers };
    if (value === undefined) delete headers[name];
    else headers[name] = value;
    this.#headers = headers;
  }

  /** The same for several at once; without others they are shared, not copied. */
  setHeaders(headers: Readonly<Record<string, string>>): void {
    this.#headers = this.#headers === noHeaders ? headers : { ...this.#headers, ...headers };
  }

  /** Back to headers that were read before. */
  resetHeaders(headers: Readonly<Record<string, string>>): void {
    this.#headers = headers;
  }

  get headers(): Readonly<Record<string, string>> {
    return this.#headers;
  }
}

const mostWarnings = 64;
