// The audit record of one request. The filter creates it, later filters and handlers add to it, and each
// stage is written as an event.
import type {
  AuditClient,
  AuditUser,
  AuditEvent,
  AuditLevel,
  ObjectReference,
  ResponseStatus,
  Stage,
} from "./event.ts";
import { withoutManagedFields } from "./managed-fields.ts";
import { oneLine } from "./one-line.ts";
import type { AuditConfig } from "./policy.ts";

export interface RecordedRequest {
  readonly auditId: string;
  readonly requestUri: string;
  readonly verb: string;
  readonly user: AuditUser | undefined;
  readonly client: AuditClient;
  readonly object: ObjectReference | undefined;
  readonly receivedAt: number;
}

/** Maximum length of an annotation value; longer ones are truncated to keep events small. */
const maxAnnotationLength = 128 * 1024;
const maxAnnotations = 256;

export class AuditRecord {
  readonly level: AuditLevel;
  readonly #config: AuditConfig;
  readonly #request: RecordedRequest;
  readonly #annotations: (readonly [key: string, value: string])[] = [];
  #object: ObjectReference | undefined;
  #impersonated: AuditUser | undefined;
  #status: ResponseStatus | undefined;
  #requestObject: string | undefined;
  #responseObject: string | undefined;

  constructor(config: AuditConfig, request: RecordedRequest) {
    this.level = config.level;
    this.#config = config;
    this.#request = request;
    this.#object = request.object;
  }

  /** Whether request bodies are recorded. */
  get wantsRequest(): boolean {
    return this.level === "Request" || this.level === "RequestResponse";
  }

  /** Whether response bodies are recorded. */
  get wantsResponse(): boolean {
    return this.level === "RequestResponse";
  }

  omits(stage: Stage): boolean {
    return this.#config.omitStages.has(stage);
  }

  /** Adds an annotation, if the event has at least the given level; the first value of a key is kept. */
  annotate(key: string, value: string, level?: "Request"): void {
    if (level === "Request" && !this.wantsRequest) return;
    if (this.#annotations.length >= maxAnnotations || this.#annotations.some(([known]) => known === key))
      return;
    this.#annotations.push([
      key,
      value.length > maxAnnotationLength ? value.slice(0, maxAnnotationLength) : value,
    ]);
  }

  impersonated(user: AuditUser): void {
    this.#impersonated = user;
  }

  /**
   * Completes the reference to the object with the metadata of the object that was sent. Earlier events are
   * unaffected.
   */
  setObjectMetadata(metadata: {
    readonly namespace?: string | undefined;
    readonly name?: string | undefined;
    readonly uid?: string | undefined;
    readonly resourceVersion?: string | undefined;
  }): void {
    const known = this.#object;
    if (!known) return;
    this.#object = {
      ...known,
      fromPath: false,
      namespace: known.namespace || (metadata.namespace ?? ""),
      name: known.name || (metadata.name ?? ""),
      uid: known.uid || (metadata.uid ?? ""),
      resourceVersion: known.resourceVersion || (metadata.resourceVersion ?? ""),
    };
  }

  /** Sets the request body as JSON; recorded only if the level includes it. */
  requestObject(json: () => string): void {
    if (this.wantsRequest) this.#requestObject = this.#recorded(json());
  }

  responseObject(json: () => string): void {
    if (this.wantsResponse) this.#responseObject = this.#recorded(json());
  }

  status(status: ResponseStatus): void {
    this.#status = status;
  }

  get hasStatus(): boolean {
    return this.#status !== undefined;
  }

  /** Returns the event of a stage with the current state of the record. */
  event(stage: Stage, stageAt: number): AuditEvent {
    const { auditId, requestUri, verb, user, client, receivedAt } = this.#request;
    return {
      level: this.level,
      auditId,
      stage,
      requestUri,
      verb,
      user,
      impersonatedUser: this.#impersonated,
      client,
      object: this.#object,
      responseStatus: this.#status,
      requestObject: this.#requestObject,
      responseObject: this.#responseObject,
      receivedAt,
      stageAt,
      annotations: this.#annotations.length > 0 ? this.#annotations.slice() : undefined,
    };
  }

  #recorded(json: string): string {
    const text = oneLine(json.trimEnd());
    return this.#config.omitManagedFields ? withoutManagedFields(text) : text;
  }
}
