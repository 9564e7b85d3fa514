// An audit event: what is recorded of a request at one stage.

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

/** Who sent a request, as the network sees it. Shared by the requests of a connection. */
export interface AuditClient {
  readonly sourceIps: readonly string[];
  readonly userAgent: string;
}

/** The object a request is about. Parts that are not known are empty. */
export interface ObjectReference {
  /** Whether all of it is part of the path of the request. */
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

/** Notes in the order in which they were made; no key twice. */
export type Annotations = readonly (readonly [key: string, value: string])[];
