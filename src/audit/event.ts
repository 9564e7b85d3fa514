// Audit events: the record of a request at one stage.

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

/** Network identity of the client. Shared by the requests of a connection. */
export interface AuditClient {
  readonly sourceIps: readonly string[];
  readonly userAgent: string;
}

/** The object a request refers to. Unknown parts are empty. */
export interface ObjectReference {
  /** Whether all parts come from the path of the request. */
  readonly fromPath: boolean;
  readonly resource: string;
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
  readonly apiGroup: string;
  readonly apiVersion: string;
  readonly resourceVersion: string;
  readonly subresource: string;
}

/** The response: its code, and the content of a Status body. */
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
  readonly client: AuditClient;
  readonly object?: ObjectReference | undefined;
  readonly responseStatus?: ResponseStatus | undefined;
  /** JSON texts. */
  readonly requestObject?: string | undefined;
  readonly responseObject?: string | undefined;
  /** Milliseconds since the epoch. */
  readonly receivedAt: number;
  readonly stageAt: number;
  readonly annotations?: Annotations | undefined;
}

/** Annotations in insertion order, with unique keys. */
export type Annotations = readonly (readonly [key: string, value: string])[];
