// Shared by all endpoints: conversion of calls to registry requests, and of cached objects to responses.
import type { AdmissionChain } from "#admission";
import { type AbortListeners, ApiError, type Clock, badRequest } from "#base";
import type { Reply } from "#http";
import { YieldBudget, type Endpoint, type RegistrySettings, type WriteRequest } from "#registry";
import type { Span } from "#tracing";
import type { ApiCall } from "./api-call.ts";
import type { ListGates } from "./options.ts";
import {
  type Choice,
  type Offer,
  UnfitForm,
  contentType,
  customForms,
  everyForm,
  negotiate,
  withoutTable,
} from "./represent/negotiate.ts";
import { type ListBody, type Representation, representation } from "./represent/representation.ts";
import type { IncludeObject } from "./represent/table.ts";

export interface EndpointContext {
  readonly admission: AdmissionChain;
  readonly clock: Clock;
  readonly settings: RegistrySettings;
  readonly gates: ListGates;
  /** Throws unless the user may also create the object that the request modifies. */
  mayCreate(call: ApiCall): Promise<void>;
  /** Minimum duration of watches that do not request a shorter one. */
  readonly minRequestTimeoutSeconds: number;
  readonly deleteCollectionWorkers: number;
  /** Aborted when the server is about to end its watches. */
  readonly closing: AbortListeners;
  /** Returns the observer that counts the events of a kind's watches. */
  readonly watchEvents?: (of: WatchedKind) => WatchObserver;
  /** Receives the span of every slow operation that has ended, for logging. */
  readonly onSlow?: (span: Span) => void;
}

export interface WatchedKind extends Pick<Endpoint, "group" | "version" | "kind"> {
  readonly resource: Pick<Endpoint["resource"], "groupResource">;
}

export interface WatchObserver {
  /** Events were sent, with this total size. */
  sent(events: number, bytes: number): void;
  /** The watch was ended because its client was too slow. */
  terminated(): void;
}

export type EndpointHandler = (context: EndpointContext, call: ApiCall, endpoint: Endpoint) => Promise<Reply>;

export function writeRequest(
  context: EndpointContext,
  call: ApiCall,
  endpoint: Endpoint,
  options: { readonly dryRun: boolean; readonly fieldManager: string; readonly unrepresentable?: boolean },
  shown: WriteRequest["options"] = () => shownOptions(call),
): WriteRequest {
  return {
    endpoint,
    namespace: call.target.namespace,
    pathName: call.target.name,
    subresource: call.target.subresource,
    user: call.user!,
    now: new Date(context.clock.now()),
    // If the response cannot be represented, the write is only a dry run, so that errors with precedence are
    // found.
    dryRun: options.dryRun || options.unrepresentable === true,
    manager: options.fieldManager,
    admission: context.admission,
    settings: context.settings,
    yieldBudget: new YieldBudget(call.bodyBytes),
    options: shown,
    warn: (text) => call.warn(text),
    annotate: (key, value, level) => call.annotate(key, value, level),
    span: call.operation,
    deadline: call.deadline,
  };
}

/** The options of a write as passed to admission: those given by the client. */
export function shownOptions({ query }: ApiCall): Readonly<Record<string, unknown>> {
  const dryRun = query.all("dryRun");
  const fieldManager = query.get("fieldManager");
  const fieldValidation = query.get("fieldValidation");
  return {
    ...(dryRun.length > 0 && { dryRun }),
    ...(fieldManager && { fieldManager }),
    ...(fieldValidation && { fieldValidation }),
  };
}

interface Representations {
  /** By choice, which is a shared object for equal requests. */
  readonly plain: WeakMap<Choice, Representation>;
  /** Tables, by how much of the object their rows include. */
  readonly tables: Map<string, Representation>;
}
const representations = new WeakMap<Endpoint, Representations>();

interface Represented {
  readonly choice: Choice;
  readonly as: Representation;
  /** The requested form does not fit the result. */
  readonly unrepresentable: boolean;
}

/**
 * Returns the representation a call requests, shared between equal requests. A form that is invalid or does
 * not fit is only reported when the result is encoded: for an absent object, 404 takes precedence.
 */
export function represented(
  context: EndpointContext,
  call: ApiCall,
  endpoint: Endpoint,
  of: "object" | "list" | "watch",
): Represented {
  const { resource } = endpoint;
  const choice = negotiate(call.call, call.query, resource.dialect, offerOf(call, endpoint));
  const known = representations.getOrInsertComputed(endpoint, noRepresentations);
  const make = (include: IncludeObject): Representation =>
    representation(endpoint, choice, include, () => new Date(context.clock.now()));
  const { form } = choice;
  if (
    (form === "PartialObjectMetadata" && of === "list") ||
    (form === "PartialObjectMetadataList" && of === "object")
  )
    return unrepresentableAs(choice, make("Metadata"), () => new UnfitForm(form, goType(endpoint)));
  if (form === "Table") {
    const include = includeObject(call);
    if (include instanceof ApiError) return unrepresentableAs(choice, make("Metadata"), () => include);
    const id = `${choice.media} ${choice.formVersion} ${choice.pretty} ${include}`;
    return { choice, as: known.tables.getOrInsertComputed(id, () => make(include)), unrepresentable: false };
  }
  return {
    choice,
    as: known.plain.getOrInsertComputed(choice, () => make("Metadata")),
    unrepresentable: false,
  };
}

function offerOf({ target }: ApiCall, { resource: { strategy } }: Endpoint): Offer {
  const { untabled } = strategy.subresources?.[target.subresource] ?? {};
  if (untabled) return withoutTable;
  return strategy.custom ? customForms : everyForm;
}

/** The Go type of an endpoint's objects as it appears in kube-apiserver's errors. */
function goType({ resource: { hub, strategy } }: Endpoint): string {
  if (strategy.custom) return "unstructured.Unstructured";
  return `${hub.kind.group.split(".")[0] || "core"}.${hub.kind.kind}`;
}

function unrepresentableAs(choice: Choice, as: Representation, refusal: () => ApiError): Represented {
  const refuse = (): never => {
    throw refusal();
  };
  return { choice, as: { ...as, object: refuse, list: refuse }, unrepresentable: true };
}

const noRepresentations = (): Representations => ({ plain: new WeakMap(), tables: new Map() });

/** Returns how much of an object the rows of a table include, or the error in the parameter. */
export function includeObject(call: ApiCall): IncludeObject | ApiError {
  const requested = call.query.get("includeObject") ?? "";
  if (requested === "") return "Metadata";
  if (requested === "None" || requested === "Metadata" || requested === "Object") return requested;
  return badRequest(
    `Unable to convert to Table as requested: includeObject: Invalid value: ${JSON.stringify(requested)}: must be 'Metadata', 'Object', 'None', or empty`,
  );
}

export const replyWith = (
  as: Representation,
  endpoint: Endpoint,
  status: number,
  body: Uint8Array | readonly Uint8Array[],
): Reply => ({
  status,
  headers: { "content-type": contentType(as.media, endpoint.resource.dialect) },
  body,
});

export const replyWithList = (
  as: Representation,
  endpoint: Endpoint,
  { parts, unshared }: ListBody,
): Reply => ({ ...replyWith(as, endpoint, 200, parts), ...(unshared && { unshared: parts }) });
