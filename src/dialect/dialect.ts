// Every product-named identifier, in two dialects. No other room spells one.

export type DialectName = "orch" | "kubernetes";

export interface Dialect {
  readonly name: DialectName;
  /** Names on the wire. */
  readonly wire: {
    /** What follows branded group names: `events.<groupSuffix>`. */
    readonly groupSuffix: string;
    readonly protobufMediaType: string;
    /** The four bytes before a binary object; the same in both dialects. */
    readonly protobufMagic: Uint8Array;
    /** Prefix of schema extensions such as `x-…-list-type`. */
    readonly extensionPrefix: string;
    /** First parts of published schema names: `io.<x>.api.core.v1.Pod`. */
    readonly schemaPrefix: string;
    /** Prefix of response headers that carry the product name. */
    readonly headerPrefix: string;
  };
  /** Names inside objects. */
  readonly data: {
    /** `<labelDomain>/hostname`, `node.<labelDomain>/…` and so on. */
    readonly labelDomain: string;
    readonly systemNamespace: string;
    readonly publicNamespace: string;
    readonly nodeLeaseNamespace: string;
    /** The service through which pods reach the API server. */
    readonly apiService: string;
  };
  /** Names an operator types or reads. */
  readonly cli: {
    readonly product: string;
    readonly apiServer: string;
    readonly agent: string;
    readonly clientConfigFlag: string;
  };
}
