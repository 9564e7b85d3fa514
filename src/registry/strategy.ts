// What is special about a kind. Every hook is optional: silence means the ordinary thing.
import type { UserInfo, WriteState } from "#admission";
import type { FieldError, Steps } from "#base";
import type { ObjectMeta, TableRowCondition } from "#api";
import type { Dialect } from "#dialect";
import type { JsonObject, KindName, Message, TimesComparison } from "#schema";
import type { Reservation, Revision } from "#store";
import type { NameRule } from "./names.ts";

export interface ApiObject {
  apiVersion: string;
  kind: string;
  metadata: ObjectMeta;
}
export type KindSchema = Message & { readonly kind: KindName };

/** A version under which the kind is served. Without conversions it is the stored shape itself. */
export interface Served<T extends ApiObject = ApiObject> {
  readonly schema: KindSchema;
  toHub?(served: ApiObject, dialect: Dialect): T;
  fromHub?(hub: T, dialect: Dialect): ApiObject;
  /** Every client that speaks it is told this. */
  readonly warning?: string;
  /** Clients that still speak it are warned: since which release, until which, and what to use instead. */
  readonly deprecated?: { readonly since: string; readonly until: string; readonly instead: string };
}

/** What hooks may know about the request. */
export interface RequestContext {
  readonly dialect: Dialect;
  readonly now: Date;
  readonly user: string;
  /** The user with all that is known of them. */
  readonly identity: UserInfo;
  readonly dryRun: boolean;
  /** Index into `served` of the version the client speaks; hooks rarely care. */
  readonly served: Served;
  /** Server settings that change what is allowed. */
  readonly settings: RegistrySettings;
  /** What one hook of the write leaves for a later one. */
  readonly state: WriteState;
}
export interface RegistrySettings {
  readonly allowPrivileged: boolean;
  readonly eventTtlSeconds: number;
  /** Whether webhooks may have match conditions. */
  readonly matchConditions?: boolean;
  /** The minor release whose functions their expressions have; 27 unless said otherwise. */
  readonly expressionRelease?: number;
  /** Whether the resources of a pod's containers may change while it runs. */
  readonly podResize?: boolean;
  /** Whether network policies have a status that can be written. */
  readonly networkPolicyStatus?: boolean;
  /** Whether pods may have users of their own. */
  readonly userNamespaces?: boolean;
  /** Whether containers may see all of the process directory. */
  readonly procMount?: boolean;
  /** Whether drivers may say that they mount volumes with SELinux labels. */
  readonly seLinuxMounts?: boolean;
  /** Whether claims may be filled from other namespaces. */
  readonly foreignSources?: boolean;
  /** False where claims say what they are filled from in one field only. */
  readonly sourceReferences?: boolean;
  /** False where volumes cannot be for a single pod. */
  readonly oncePodVolumes?: boolean;
  /** False where pods lose the annotations that name AppArmor profiles. */
  readonly appArmor?: boolean;
  /** False where pods have at most six search paths for names. */
  readonly expandedDns?: boolean;
  /** False where nobody looks at what the deletion of a pod is said to cost. */
  readonly deletionCosts?: boolean;
  /** Whether pods may use resources that drivers hand out. */
  readonly resourceClaims?: boolean;
  /** Whether autoscalers may go down to no pods at all. */
  readonly scaleToZero?: boolean;
  /** Whether stateful sets may say how many of their pods an update makes unavailable at a time. */
  readonly statefulUnavailable?: boolean;
  /** False where a claim that named no storage class cannot be given one later. */
  readonly retroactiveClass?: boolean;
  /** Whether a claim may ask for less again while it has not grown. */
  readonly expansionRecovery?: boolean;
  /** False where the completions of an indexed job stay as they are. */
  readonly elasticJobs?: boolean;
  /** False where pods that are evicted do not say why in a condition. */
  readonly disruptionConditions?: boolean;
  /** False where nobody collects dependents: then a deletion leaves them alone, whatever it asks for. */
  readonly garbageCollection?: boolean;
  /** Told of each certificate that was issued to who asked for a duration. */
  readonly certificateIssued?: (signerName: string, honored: boolean) => void;
  /** Told of each update whether it was found to change nothing but the times of its managers. */
  readonly timesCompared?: (outcome: TimesComparison, seconds: number) => void;
}

export interface Column<T> {
  readonly name: string;
  readonly type: "string" | "integer" | "number" | "boolean" | "date";
  readonly format?: string;
  readonly doc: string;
  /** Rows have the cell, but no column tells of it: kube-apiserver does so for one kind. */
  readonly undeclared?: boolean;
  /** 0 is shown always, higher ones with `-o wide`. */
  readonly priority?: number;
  /** Null shows nothing. */
  cell(obj: T, now: Date): string | number | boolean | null;
}

/** A write that goes through `…/name/<subresource>` and touches only part of the object. */
export interface PartSubresource<T extends ApiObject> {
  /** Makes the object to store from what the client sent and what is there. */
  merge(sent: T, old: T, ctx: RequestContext): T;
  validate?(obj: T, old: T, ctx: RequestContext): FieldError[];
  /** The same for checks that can take long: others have their turn between the steps. */
  validateInSteps?(obj: T, old: T, ctx: RequestContext): Steps<FieldError[]>;
  readonly verbs?: readonly ("get" | "update" | "patch")[];
  /** The kind discovery names, where it is not the object's own. */
  readonly kind?: string;
  readonly kindGroup?: { readonly group: string; readonly version: string };
  /**
   * Fields (such as `spec` or `metadata.labels`) that a write through here leaves as they are, so that its
   * manager never owns them.
   */
  readonly resets?: readonly string[];
  /** How often metadata is looked at again here; what the kind says of itself does not count. */
  readonly metaChecks?: Pick<MetaChecks, "asNew" | "asChange">;
  /** What is asked for here is never shown as a table. */
  readonly untabled?: boolean;
}

export interface MetaChecks {
  /** On creation; default 1. Where it is 0 any name that fits into a path will do. */
  readonly onCreate?: 0 | 1 | 2;
  /** On a change, as if the object were new; default 0. */
  readonly asNew?: 0 | 1 | 2;
  /** On a change, against what was there; default 1. */
  readonly asChange?: 0 | 1;
  /** On a change, the whole object is checked twice as if it were new, before metadata against what was there. */
  readonly wholeTwice?: boolean;
  /** Finalizers need not be qualified names. */
  readonly anyFinalizer?: boolean;
}

/** What was reserved for a write that has not happened yet. */
export interface ReservedShare {
  /** Deleted by the write. */
  readonly consumes: readonly Reservation[];
  /** The write has happened, at this revision; without one it will not. */
  settle(revision?: Revision): void;
}

export interface Strategy<T extends ApiObject = ApiObject> {
  /**
   * Defined at run time: there is no binary form and no strategic merge patch, list items say what they are,
   * and discovery lists verbs and parts in the order of definitions.
   */
  readonly custom?: boolean;
  /** Whether the kind itself is to go: then nothing new is taken. */
  terminating?(): boolean;
  /** Plural, lower case, as in paths. */
  readonly resource: string;
  readonly singular: string;
  readonly shortNames?: readonly string[];
  readonly categories?: readonly string[];
  readonly scope: "Namespaced" | "Cluster";
  /** The one stored shape. */
  readonly hub: KindSchema;
  readonly served?: readonly Served<T>[];
  /** The feature gate without which there is no such kind. */
  readonly gate?: string;
  /** Neither stored nor cached unless --runtime-config asks for it. */
  readonly onlyIfServed?: boolean;
  /** Where the keys stand in the store when that is not the resource's name. */
  readonly storagePath?: string;
  readonly verbs?: readonly Verb[];
  /** A PUT to a name that does not exist creates it. */
  readonly createOnUpdate?: boolean;
  /** An update without a resourceVersion is refused. */
  readonly conditionalUpdate?: boolean;
  /** Changes of anything but metadata and status count up metadata.generation. */
  readonly generation?: boolean;
  /** A change of the status counts, too: the kind has no other way to write it. */
  readonly generationCountsStatus?: boolean;
  /** Has a status that only `/status` writes: what creation makes of a status that was sent along. */
  readonly status?: "cleared" | "kept";
  /** Fields that a write of the object itself leaves as they are; a kind with a status resets that. */
  readonly resets?: readonly string[];
  /** The group that validation errors name, where it is not the group the client spoke to. */
  readonly errorGroup?: string;
  /**
   * How often kube-apiserver validates metadata of this kind again in the strategy beside the generic
   * registry: it reports such errors more than once, and clients compare them.
   */
  readonly metaChecks?: MetaChecks;
  /** A deletion answers with the object instead of a Status. */
  readonly returnsDeleted?: boolean;
  /** Who looks at a deletion sees the identity of the object among its preconditions. */
  readonly deletedByUid?: boolean;

  /** Also of what was stored, where another program did it: an older release has fewer defaults. */
  defaults?(obj: T, ctx: Pick<RequestContext, "dialect" | "settings">): void;
  /** Versions that objects were stored in and that are served no more, and how JSON of them is read. */
  readonly formerVersions?: Readonly<Record<string, (stored: JsonObject) => JsonObject>>;
  /**
   * Puts back what the binary form leaves out, and what other servers of this API do not store, after an
   * object was read.
   */
  restore?(obj: T): void;
  /** What has to be waited for before a new object can be prepared. */
  beforeCreate?(ctx: RequestContext): Promise<void>;
  prepareForCreate?(obj: T, ctx: RequestContext): void;
  prepareForUpdate?(obj: T, old: T, ctx: RequestContext): void;
  /** Takes what the object needs and only one can have, once it is prepared. Not asked on a dry run. */
  reserve?(obj: T, old: T | undefined, ctx: RequestContext): Promise<ReservedShare | undefined>;
  /** What a new or changed object asks for and cannot have; said alone, before anything else is looked at. */
  precheck?(obj: T, old: T | undefined, ctx: RequestContext): readonly FieldError[];
  /** What is wrong with a new object beyond its metadata and its schema. */
  validate?(obj: T, ctx: RequestContext): FieldError[];
  /** What is wrong with a change; objects are also validated as new ones when this is absent. */
  validateUpdate?(obj: T, old: T, ctx: RequestContext): FieldError[];
  /** What both find, for checks that can take long: others have their turn between the steps. */
  validateInSteps?(obj: T, old: T | undefined, ctx: RequestContext): Steps<FieldError[]>;
  /** A change of the object was stored. */
  updated?(obj: T, old: T, ctx: RequestContext): void;
  warnings?(obj: T, old: T | undefined, ctx: RequestContext): string[];
  /** What names may be. Default: a DNS subdomain. */
  readonly validateName?: NameRule;
  /** `generateName` is taken as the name, with nothing put behind it. */
  readonly plainGeneratedNames?: boolean;
  /** The same where it depends on the object. */
  nameRule?(obj: T): NameRule;
  /**
   * Seconds of grace a deletion gives, from what was asked and what the object says; undefined deletes at
   * once.
   */
  graceSeconds?(obj: T, asked: number | undefined, ctx: RequestContext): number | undefined;
  /**
   * The first deletion only marks the object, and this says what else the mark is; the object goes once
   * nothing holds it back. It is given the finalizers that the deletion asks for.
   */
  beginDeletion?(obj: T, ctx: RequestContext, finalizers: readonly string[] | undefined): void;
  /** Whether something beside metadata.finalizers keeps an object that is to be deleted. */
  deletionBlocked?(obj: T): boolean;
  /** Deletions that do not say what becomes of dependents leave them behind; the text warns clients of it. */
  readonly orphansDependents?: { readonly warning?: string };
  /** Nothing can depend on objects of this kind: deletions need not ask what becomes of dependents. */
  readonly withoutDependents?: boolean;
  /** Fields that selectors may name, beside metadata.name and metadata.namespace. */
  fields?(obj: T): Record<string, string>;
  /** Those of them by which clients ask for few of many: where there are many, they are indexed from the start. */
  readonly indexedFields?: readonly string[];
  /** Stands in place of an object where a refusal would show it: answers and the audit log must not hold it. */
  readonly redacted?: string;
  /** There may be a million: they are not held in memory where the store can be read at once. */
  readonly veryMany?: boolean;
  /**
   * kube-apiserver serves the kind without a watch cache: its watches send no bookmarks, and `limit` holds
   * even at resourceVersion=0.
   */
  readonly uncachedSemantics?: boolean;
  /** By neutral group: the names that fields have there, and the names they have in `fields()`. */
  readonly fieldAliases?: Readonly<Record<string, Readonly<Record<string, string>>>>;
  ttlSeconds?(obj: T, ctx: RequestContext): number;
  readonly columns?: readonly Column<T>[];
  /** What is special about an object's row in a table. */
  rowConditions?(obj: T): readonly TableRowCondition[] | undefined;
  /** Why the object of this name cannot be deleted. */
  deletionForbidden?(name: string): string | undefined;
  /** Sorts the rows of a list in a table; by name without it. */
  rowOrder?(one: T, other: T): number;
  /** Annotations that the server keeps for itself: neither tables nor metadata alone show them. */
  readonly ownAnnotations?: readonly string[];
  readonly subresources?: Readonly<Record<string, PartSubresource<T>>>;
  readonly scale?: ScaleView<T>;
}

/** How many of something there should be and are, for kinds that can be scaled. */
export interface ScaleView<T extends ApiObject> {
  /** Where the number of replicas stands; `spec`, `replicas` unless said. */
  readonly replicasPath?: readonly string[];
  /** The same in all versions of the kind, by API version; null in those without scale. */
  readonly replicasPaths?: Readonly<Record<string, readonly string[] | null>>;
  /** The kind's own rules look at the number; otherwise it must not be negative. */
  readonly ownRules?: boolean;
  /** Undefined where the object has none: then they can be set, but not read. */
  replicas(obj: T): number | undefined;
  setReplicas(obj: T, replicas: number): void;
  observed(obj: T): number;
  /** The label selector of what is counted, as text. */
  selector(obj: T): string;
}

export type Verb = "create" | "delete" | "deletecollection" | "get" | "list" | "patch" | "update" | "watch";
export const allVerbs: readonly Verb[] = [
  "create",
  "delete",
  "deletecollection",
  "get",
  "list",
  "patch",
  "update",
  "watch",
];

/** Makes a strategy with its type parameter checked, and forgets the parameter for lists of strategies. */
export const strategy = <T extends ApiObject>(given: Strategy<T>): Strategy => given;
