// What flow control knows of a request: who asks, for what, and how much it may return.

export interface RequestDigest {
  readonly userName: string;
  readonly groups: readonly string[];
  readonly verb: string;
  readonly isResource: boolean;
  readonly path: string;
  readonly group: string;
  readonly version: string;
  readonly namespace: string;
  readonly resource: string;
  readonly subresource: string;
  readonly name: string;
  /** The parameters of a list that decide how much of the store it goes through. */
  list(): ListRequest;
}

export interface ListRequest {
  readonly limit: number;
  readonly resourceVersion: string;
  readonly continues: boolean;
  /** Whether there is a label or field selector. */
  readonly selects: boolean;
  /** Whether `resourceVersionMatch` asks for something else than `NotOlderThan`. */
  readonly exactMatch: boolean;
}
