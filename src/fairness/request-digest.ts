// The attributes of a request that flow control uses: its user, its target, and how much it may return.

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
  /** The parameters of a list that determine how much of the store it reads. */
  list(): ListRequest;
}

export interface ListRequest {
  readonly limit: number;
  readonly resourceVersion: string;
  readonly continues: boolean;
  /** A label or field selector is present. */
  readonly selects: boolean;
  /** `resourceVersionMatch` requests anything other than `NotOlderThan`. */
  readonly exactMatch: boolean;
}
