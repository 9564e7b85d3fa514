// What admission sees of a request: an attempt to change something, before it happens.
import type { FieldError } from "#base";

export type Operation = "CREATE" | "UPDATE" | "DELETE" | "CONNECT";

/** The identity behind an attempt. */
export interface UserInfo {
  readonly name: string;
  readonly uid?: string | undefined;
  readonly groups: readonly string[];
  readonly extra?: Readonly<Record<string, readonly string[]>> | undefined;
}

export interface AdmissionAttributes {
  readonly operation: Operation;
  /** The group is the name on the wire. */
  readonly resource: { readonly group: string; readonly version: string; readonly resource: string };
  readonly kind: { readonly group: string; readonly version: string; readonly kind: string };
  readonly subresource: string;
  readonly namespace: string;
  readonly name: string;
  readonly user: UserInfo;
  readonly dryRun: boolean;
  /** The object as it would be stored; mutating plugins change it in place. Absent on deletion. */
  readonly object: Record<string, unknown> | undefined;
  readonly oldObject: Record<string, unknown> | undefined;
  readonly options: Readonly<Record<string, unknown>>;
  /** Says something to the client without refusing. */
  warn(text: string): void;
}

export interface AdmissionPlugin {
  readonly name: string;
  readonly handles: readonly Operation[];
  /** Plural names of the resources it looks at, in whichever group; all when absent. */
  readonly resources?: readonly string[];
  /** Resources it never looks at. */
  readonly ignores?: ReadonlySet<string>;
  /** Changes the attempt's object, or throws an ApiError to refuse. */
  mutate?(attributes: AdmissionAttributes): Promise<void>;
  /** Looks without changing: field errors refuse as Invalid, an ApiError as itself. */
  validate?(attributes: AdmissionAttributes): Promise<readonly FieldError[]>;
}
